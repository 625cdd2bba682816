import pg from 'pg';
import { DataSource } from 'typeorm';
import { AgentSlotEntity } from '../agents/agent-slot.entity.js';
import { AgentVersionEntity } from '../agents/agent-version.entity.js';
import { AgentEntity } from '../agents/agent.entity.js';
import { ApiKeyEntity } from '../api-keys/api-key.entity.js';
import { AuditHeadEntity } from '../audit/audit-head.entity.js';
import { AuditLogEntity } from '../audit/audit-log.entity.js';
import { RunEventEntity } from '../events/run-event.entity.js';
import { RunCallbackEntity } from '../external-api/callbacks/run-callback.entity.js';
import { IdempotencyKeyEntity } from '../external-api/idempotency/idempotency-key.entity.js';
import { ApiKeyRateEntity } from '../external-api/limits/api-key-rate.entity.js';
import { RunEntity } from '../runs/run.entity.js';
import { VisitEntity } from '../runs/visit.entity.js';
import { RuntimeCallOutputEntity } from '../runtime-adapters/ledger/runtime-call-output.entity.js';
import { RuntimeCallOwnerEntity } from '../runtime-adapters/ledger/runtime-call-owner.entity.js';
import { RuntimeCallEntity } from '../runtime-adapters/ledger/runtime-call.entity.js';
import { WorkflowVersionEntity } from '../workflows/workflow-version.entity.js';
import { WorkflowEntity } from '../workflows/workflow.entity.js';
import { CONNECT_MILLIS } from './connect-millis.js';
import type { DatabaseLog } from './embedded/database-log.js';
import { parseOrdered } from '../common/json/parse-ordered.js';
import { migrations } from './migrations/index.js';
import { TypeormLogger } from './typeorm-logger.js';

/** Every table of the product. */
export const entities = [
  WorkflowEntity,
  WorkflowVersionEntity,
  RunEntity,
  VisitEntity,
  RunEventEntity,
  ApiKeyEntity,
  AuditLogEntity,
  AuditHeadEntity,
  AgentEntity,
  AgentVersionEntity,
  AgentSlotEntity,
  RuntimeCallEntity,
  RuntimeCallOutputEntity,
  RuntimeCallOwnerEntity,
  IdempotencyKeyEntity,
  RunCallbackEntity,
  ApiKeyRateEntity,
];

// What callers stored as JSON comes back with its keys in their order (decision 44).
pg.types.setTypeParser(pg.types.builtins.JSON, parseOrdered);

/**
 * The one data source definition, shared by the server, the migration commands and the tests.
 * `synchronize` stays off for ever: the schema changes by migrations only.
 */
export function createDataSource(url: string, poolSize: number, log?: DatabaseLog): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    entities,
    migrations,
    migrationsTableName: 'schema_migrations',
    synchronize: false,
    poolSize,
    applicationName: 'agent-management',
    connectTimeoutMS: CONNECT_MILLIS,
    extra: { keepAlive: true },
    logger: new TypeormLogger(log),
  });
}
