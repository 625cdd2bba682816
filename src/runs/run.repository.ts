import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isConnectionError } from '../database/connection-error.js';
import { GroupCommit } from '../database/group-commit.js';
import { RunConnections } from './run-connections.js';
import { runColumns } from './run-columns.js';
import type { RunStatus } from './run-status.js';
import { RunEntity } from './run.entity.js';

/** Where a page of runs ended: the creation time and id of its last run. */
export interface RunCursor {
  createdAt: Date;
  runId: string;
}

export interface RunListQuery {
  workflowId?: number;
  status?: RunStatus;
  /** Exclusive. */
  cursor?: RunCursor;
  limit: number;
}

/** Runs of one shared commit at the most. */
const MAX_BATCH = 200;

export type NewRun = Pick<
  RunEntity,
  | 'runId'
  | 'workflowId'
  | 'workflowVersion'
  | 'variables'
  | 'failStrategy'
  | 'ttlHours'
  | 'apiKeyName'
  | 'callbackUrl'
  | 'parentRunId'
  | 'parentVisitUuid'
  | 'rerunOf'
  | 'rerunFromNode'
  | 'createdAt'
>;

/** Reads and creates runs. Everything that changes a running one is the journal's and the leases'. */
@Injectable()
export class RunRepository {
  readonly #inserts: GroupCommit<NewRun>;

  constructor(
    private readonly dataSource: DataSource,
    { admission }: RunConnections,
  ) {
    this.#inserts = new GroupCommit<NewRun>(
      async (runs) => {
        await admission.query({
          name: 'insert-runs',
          text: INSERT_STATEMENT,
          values: insertParameters(runs),
        });
        return runs.map(() => ({ ok: true, value: undefined }));
      },
      { maxBatch: MAX_BATCH, isFatal: isConnectionError },
    );
  }

  async find(runId: string): Promise<RunEntity | null> {
    const [run] = await this.dataSource.query<RunEntity[]>(
      `SELECT ${runColumns(this.dataSource)} FROM runs WHERE run_id = $1`,
      [runId],
    );
    return run ?? null;
  }

  /** Newest first; a run created meanwhile never shifts a later page. */
  list({ workflowId, status, cursor, limit }: RunListQuery): Promise<RunEntity[]> {
    const query = this.dataSource
      .getRepository(RunEntity)
      .createQueryBuilder('run')
      .orderBy('run.createdAt', 'DESC')
      .addOrderBy('run.runId', 'DESC')
      .limit(limit);
    if (workflowId !== undefined) query.andWhere('run.workflowId = :workflowId', { workflowId });
    if (status) query.andWhere('run.status = :status', { status });
    if (cursor) query.andWhere('(run.createdAt, run.runId) < (:createdAt, :runId)', cursor);
    return query.getMany();
  }

  /**
   * Stores a run that has just been created; its other columns are still empty. Without a transaction of the
   * caller's, runs that are created at the same time share one commit.
   */
  async insert(run: NewRun, manager?: EntityManager): Promise<void> {
    if (manager) await manager.query(INSERT_STATEMENT, insertParameters([run]));
    else await this.#inserts.submit(run);
  }
}

const INSERT_STATEMENT = `
INSERT INTO runs (run_id, workflow_id, workflow_version, status, variables, fail_strategy, ttl_hours,
                  api_key_name, callback_url, parent_run_id, parent_visit_uuid, rerun_of, rerun_from_node,
                  created_at)
SELECT run_id, workflow_id, workflow_version, 'CREATED', variables::json, fail_strategy, ttl_hours,
       api_key_name, callback_url::json, parent_run_id, parent_visit_uuid, rerun_of, rerun_from_node, created_at
  FROM unnest($1::text[], $2::bigint[], $3::integer[], $4::text[], $5::text[], $6::integer[], $7::text[],
              $8::text[], $9::text[], $10::uuid[], $11::text[], $12::text[], $13::timestamptz[])
    AS new(run_id, workflow_id, workflow_version, variables, fail_strategy, ttl_hours, api_key_name,
           callback_url, parent_run_id, parent_visit_uuid, rerun_of, rerun_from_node, created_at)`;

function insertParameters(runs: readonly NewRun[]): unknown[][] {
  return [
    runs.map(({ runId }) => runId),
    runs.map(({ workflowId }) => workflowId),
    runs.map(({ workflowVersion }) => workflowVersion),
    runs.map(({ variables }) => JSON.stringify(variables)),
    runs.map(({ failStrategy }) => failStrategy),
    runs.map(({ ttlHours }) => ttlHours),
    runs.map(({ apiKeyName }) => apiKeyName),
    runs.map(({ callbackUrl }) => (callbackUrl === null ? null : JSON.stringify(callbackUrl))),
    runs.map(({ parentRunId }) => parentRunId),
    runs.map(({ parentVisitUuid }) => parentVisitUuid),
    runs.map(({ rerunOf }) => rerunOf),
    runs.map(({ rerunFromNode }) => rerunFromNode),
    runs.map(({ createdAt }) => createdAt),
  ];
}
