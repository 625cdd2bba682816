import type { DataSource } from 'typeorm';
import type { CallStatus } from './call-status.js';
import { RuntimeCallEntity } from './runtime-call.entity.js';

export interface RuntimeCallFilter {
  runId?: string;
  nodeId?: string;
  agentKey?: string;
  provider?: string;
  status?: CallStatus;
  /** Calls before this place only. */
  before?: { requestedAt: Date; commandId: string };
}

/** Reads the ledger, newest first. */
export class ListRuntimeCalls {
  constructor(private readonly dataSource: DataSource) {}

  execute(filter: RuntimeCallFilter, limit: number): Promise<RuntimeCallEntity[]> {
    const query = this.dataSource.getRepository(RuntimeCallEntity).createQueryBuilder('call');
    for (const key of ['runId', 'nodeId', 'agentKey', 'provider', 'status'] as const) {
      if (filter[key] !== undefined) query.andWhere(`call.${key} = :${key}`, { [key]: filter[key] });
    }
    if (filter.before) {
      query.andWhere('(call.requestedAt, call.commandId) < (:requestedAt, :commandId)', filter.before);
    }
    return query
      .orderBy('call.requestedAt', 'DESC')
      .addOrderBy('call.commandId', 'DESC')
      .limit(limit)
      .getMany();
  }
}
