import { CreateWorkflowsAndRuns1764547200000 } from './1764547200000-create-workflows-and-runs.js';
import { CreateAuditLog1764550000000 } from './1764550000000-create-audit-log.js';
import { CreateRuntimeCalls1764550000001 } from './1764550000001-create-runtime-calls.js';
import { CreateAgents1764550000002 } from './1764550000002-create-agents.js';
import { CreateIdempotencyKeys1764560000000 } from './1764560000000-create-idempotency-keys.js';
import { CreateCallbacksAndRates1764560000001 } from './1764560000001-create-callbacks-and-rates.js';
import { CreateApiKeys1764580000000 } from './1764580000000-create-api-keys.js';

/** Every migration, oldest first. */
export const migrations = [
  CreateWorkflowsAndRuns1764547200000,
  CreateAuditLog1764550000000,
  CreateRuntimeCalls1764550000001,
  CreateAgents1764550000002,
  CreateIdempotencyKeys1764560000000,
  CreateCallbacksAndRates1764560000001,
  CreateApiKeys1764580000000,
];
