import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
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
  constructor(private readonly dataSource: DataSource) {}

  find(runId: string): Promise<RunEntity | null> {
    return this.dataSource.getRepository(RunEntity).findOneBy({ runId });
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

  /** Stores a run that has just been created; its other columns are still empty. */
  async insert(run: NewRun, manager: EntityManager = this.dataSource.manager): Promise<void> {
    await manager.query(
      `INSERT INTO runs (run_id, workflow_id, workflow_version, status, variables, fail_strategy, ttl_hours,
                         api_key_name, callback_url, parent_run_id, parent_visit_uuid, rerun_of, rerun_from_node,
                         created_at)
       VALUES ($1, $2, $3, 'CREATED', $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
      [
        run.runId,
        run.workflowId,
        run.workflowVersion,
        JSON.stringify(run.variables),
        run.failStrategy,
        run.ttlHours,
        run.apiKeyName,
        run.callbackUrl === null ? null : JSON.stringify(run.callbackUrl),
        run.parentRunId,
        run.parentVisitUuid,
        run.rerunOf,
        run.rerunFromNode,
        run.createdAt,
      ],
    );
  }
}
