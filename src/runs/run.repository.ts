import { Injectable } from '@nestjs/common';
import type { QueryConfig } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { isConnectionError } from '../database/connection-error.js';
import { columnArrays, givenRows, type Column, type Row } from '../database/given-rows.js';
import { GroupCommit } from '../database/group-commit.js';
import { stayAwake } from '../database/stay-awake.js';
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
        const answer = admission.query(insertOf(runs));
        if (runs.length === 1) stayAwake(answer);
        await answer;
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
    if (manager) await manager.query(INSERT_ONE, [...rowOf(run)]);
    else await this.#inserts.submit(run);
  }
}

const NEW_RUN = [
  ['run_id', 'text'],
  ['workflow_id', 'bigint'],
  ['workflow_version', 'integer'],
  ['variables', 'payload'],
  ['fail_strategy', 'text'],
  ['ttl_hours', 'integer'],
  ['api_key_name', 'text'],
  ['callback_url', 'text'],
  ['parent_run_id', 'text'],
  ['parent_visit_uuid', 'uuid'],
  ['rerun_of', 'text'],
  ['rerun_from_node', 'text'],
  ['created_at', 'timestamptz'],
] as const satisfies readonly Column[];

const INSERT_ONE = insertStatement(givenRows(NEW_RUN, 1, 1));
const INSERT_MANY = insertStatement(givenRows(NEW_RUN, null, 1));

function insertStatement(given: string): string {
  return `
INSERT INTO runs (run_id, workflow_id, workflow_version, status, variables, fail_strategy, ttl_hours,
                  api_key_name, callback_url, parent_run_id, parent_visit_uuid, rerun_of, rerun_from_node,
                  created_at)
SELECT run_id, workflow_id, workflow_version, 'CREATED', variables::json, fail_strategy, ttl_hours,
       api_key_name, callback_url::json, parent_run_id, parent_visit_uuid, rerun_of, rerun_from_node, created_at
  FROM ${given}`;
}

function insertOf(runs: readonly NewRun[]): QueryConfig {
  const rows = runs.map(rowOf);
  return rows.length === 1
    ? { name: 'insert a run', text: INSERT_ONE, values: rows.flat() }
    : { name: 'insert runs', text: INSERT_MANY, values: columnArrays(NEW_RUN, rows) };
}

function rowOf(run: NewRun): Row {
  const { runId, workflowId, workflowVersion, variables, failStrategy, ttlHours, apiKeyName } = run;
  const { callbackUrl, parentRunId, parentVisitUuid, rerunOf, rerunFromNode, createdAt } = run;
  return [
    ...[runId, workflowId, workflowVersion, JSON.stringify(variables), failStrategy, ttlHours, apiKeyName],
    callbackUrl === null ? null : JSON.stringify(callbackUrl),
    ...[parentRunId, parentVisitUuid, rerunOf, rerunFromNode, createdAt.toISOString()],
  ];
}
