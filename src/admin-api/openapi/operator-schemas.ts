import { z } from 'zod';
import { newApiKeySchema } from '../../api-keys/index.js';
import { callStatus, failure, finishReason, provider, traceability, usage } from './agent-schemas.js';
import { anyObject, time } from './parameters.js';

/** What operators read, as the OpenAPI document shows it; a test holds real answers against it. */

export const newApiKey = newApiKeySchema.meta({ id: 'NewApiKey' });
const key = {
  id: z.uuid(),
  name: z.string(),
  workflowNames: z.array(z.string()),
  workflowIds: z.array(z.int()),
  requestsPerMinute: z.int().nullable(),
  maxConcurrentRuns: z.int().nullable(),
  expiresAt: time.nullable(),
  createdBy: z.string(),
  createdAt: time,
  lastUsedAt: time.nullable(),
};
export const apiKey = z.strictObject(key).meta({ id: 'ApiKey' });
export const createdApiKey = z
  .strictObject({ ...key, key: z.string().describe('Shown this once') })
  .meta({ id: 'CreatedApiKey' });

const runSummaryShape = {
  runId: z.string(),
  workflowId: z.int(),
  workflowName: z.string().nullable(),
  workflowVersion: z.int(),
  status: z.enum(['CREATED', 'RUNNING', 'SUCCESS', 'FAILED']),
  statusReason: z.string().nullable(),
  apiKeyName: z.string().nullable(),
  parentRunId: z.string().nullable(),
  rerunOf: z.string().nullable(),
  createdAt: time,
  startedAt: time.nullable(),
  completedAt: time.nullable(),
};
export const runSummary = z.strictObject(runSummaryShape).meta({ id: 'RunSummary' });

const visit = z
  .strictObject({
    visitUuid: z.uuid(),
    nodeId: z.string(),
    nodeType: z.string(),
    iterSeq: z.int(),
    attempt: z.int(),
    status: z.enum(['RUNNING', 'SUCCESS', 'FAILED', 'SKIPPED', 'WAITING']),
    error: z.string().nullable(),
    errorCode: z.string().nullable(),
    chosenHandle: z.string().nullable(),
    skippedBecause: z.array(z.string()).nullable(),
    waiting: anyObject.nullable(),
    predecessors: z.array(z.uuid()).describe('Visits it came from'),
    startedAt: time,
    completedAt: time.nullable(),
  })
  .meta({ id: 'RunVisit' });

export const run = z
  .strictObject({
    ...runSummaryShape,
    error: z.string().nullable(),
    errorDetail: anyObject.nullable(),
    variables: anyObject,
    outputs: anyObject.nullable(),
    failStrategy: z.enum(['abort', 'skip']).nullable(),
    ttlHours: z.int(),
    callbackUrl: z.string().nullable(),
    rerunFromNode: z.string().nullable(),
    cancelRequestedAt: time.nullable(),
    workspaceExpiredAt: time.nullable(),
    visits: z.array(visit),
  })
  .meta({ id: 'Run' });

const call = {
  commandId: z.string(),
  runId: z.string().nullable(),
  nodeId: z.string().nullable(),
  visitUuid: z.uuid().nullable(),
  correlationId: z.string(),
  status: callStatus,
  provider,
  providerRequestId: z.string().nullable(),
  agentKey: z.string().nullable(),
  version: z.int().nullable(),
  slotKey: z.string().nullable(),
  scenario: z.string(),
  actor: z.looseObject({ kind: z.string(), id: z.string() }),
  envelopeId: z.uuid().nullable(),
  snapshotId: z.uuid().nullable(),
  outputSummary: z.string().nullable(),
  finishReason: finishReason.nullable(),
  usage: usage.nullable(),
  durationMs: z.number().nullable(),
  toolCalls: z.int(),
  traceability: traceability.nullable(),
  attribution: z.enum(['attributed', 'unattributed']).nullable(),
  reconciled: z
    .strictObject({
      quota: z.number(),
      promptTokens: z.number(),
      completionTokens: z.number(),
      useTime: z.number(),
      at: time,
    })
    .nullable(),
  failure: failure.nullable(),
  requestedAt: time,
  startedAt: time.nullable(),
  completedAt: time.nullable(),
};
export const runtimeCall = z.strictObject(call).meta({ id: 'RuntimeCall' });
export const runtimeCallDetail = z
  .strictObject({
    ...call,
    providerRef: anyObject,
    envelope: anyObject.nullable().describe('What was allowed to leave'),
    trimmed: z.array(
      z.strictObject({
        part: z.string(),
        ref: z.string().nullable(),
        reason: z.enum(['not_allowed', 'over_max_chars', 'tool_not_granted']),
        chars: z.int(),
      }),
    ),
    snapshot: z
      .strictObject({
        id: z.uuid(),
        parts: z.array(
          z.strictObject({
            kind: z.string(),
            ref: z.string().nullable(),
            digest: z.string().describe('SHA-256, lower-case hex'),
            bytes: z.int(),
          }),
        ),
      })
      .nullable(),
  })
  .meta({ id: 'RuntimeCallDetail' });

export const usageReport = z
  .strictObject({
    items: z.array(
      z
        .strictObject({
          day: z.string().optional(),
          agentKey: z.string().nullish(),
          workflowName: z.string().nullish(),
          provider: z.string().optional(),
          calls: z.int(),
          succeeded: z.int(),
          failed: z.int(),
          cancelled: z.int(),
          unknown: z.int(),
          promptTokens: z.number(),
          completionTokens: z.number(),
          totalTokens: z.number(),
          durationMs: z.number(),
          toolCalls: z.int(),
          cost: z.array(z.strictObject({ amount: z.string(), currency: z.string() })),
          attributed: z.int(),
          unattributed: z.int(),
          reconciled: z.strictObject({
            calls: z.number(),
            quota: z.number(),
            promptTokens: z.number(),
            completionTokens: z.number(),
          }),
        })
        .meta({ id: 'UsageRow' }),
    ),
    nextCursor: z.string().nullable(),
    from: time,
    to: time,
  })
  .meta({ id: 'Usage' });

export const credential = z
  .strictObject({
    ref: z.string(),
    provider: z.string(),
    scope: z.array(z.string()).nullable(),
    environment: z.string().nullable(),
    rotatedAt: z.string().nullable(),
    usable: z.boolean(),
    problem: z.string().nullable().describe('Which key of the configuration to mend'),
  })
  .meta({ id: 'Credential' });

export const auditRecord = z
  .strictObject({
    seq: z.int(),
    at: time,
    actor: z.strictObject({ kind: z.enum(['admin-key', 'api-key', 'system']), name: z.string() }),
    action: z.string(),
    subject: z.strictObject({ type: z.string(), id: z.string() }),
    correlationId: z.string().nullable(),
    reason: z.string().nullable(),
    before: z.unknown(),
    after: z.unknown(),
    prevHash: z.string(),
    hash: z.string(),
  })
  .meta({ id: 'AuditRecord' });

export const chainVerdict = z
  .strictObject({
    valid: z.boolean(),
    checked: z.int(),
    firstBroken: z.int().nullable(),
    problem: z.string().nullable(),
    anchoredUpTo: z.int(),
  })
  .meta({ id: 'ChainVerdict' });
