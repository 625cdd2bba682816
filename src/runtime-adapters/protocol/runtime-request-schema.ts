import { z } from 'zod';
import type { AgentRuntimeRequest } from './agent-runtime-request.js';

const contextPart = z.strictObject({ kind: z.string(), ref: z.string(), text: z.string() });

const providerRef = z.discriminatedUnion('runtimeProvider', [
  z.strictObject({
    runtimeProvider: z.literal('hermes'),
    hermes: z.strictObject({ model: z.string(), tools: z.array(z.string()).optional() }),
  }),
  z.strictObject({
    runtimeProvider: z.literal('new-api'),
    newApi: z.strictObject({ model: z.string(), credentialRef: z.string() }),
  }),
  z.strictObject({
    runtimeProvider: z.literal('dify'),
    dify: z.strictObject({
      appType: z.enum(['agent', 'chat', 'workflow']),
      appId: z.string().nullish(),
      workflowId: z.string().nullish(),
      responseMode: z.enum(['streaming', 'blocking']).optional(),
      credentialRef: z.string(),
    }),
  }),
  z.strictObject({
    runtimeProvider: z.literal('agentscope'),
    agentscope: z.strictObject({
      graphId: z.string().nullish(),
      agentId: z.string().nullish(),
      version: z.string().nullish(),
      protocolVersion: z.union([z.literal(1), z.literal(2)]).optional(),
      credentialRef: z.string(),
    }),
  }),
  z.strictObject({
    runtimeProvider: z.literal('isolated-writer'),
    writer: z.strictObject({ name: z.string(), model: z.string(), credentialRef: z.string() }),
  }),
]);

/**
 * Every field a request may have (agent-runtime-protocol.md §4.1) and no other: what is not listed here does not
 * leave. The workbench goes to our own bridge only and is not looked into.
 */
export const runtimeRequestSchema = z.strictObject({
  commandId: z.string().min(1),
  taskId: z.string().nullable(),
  jobId: z.string().nullable(),
  correlationId: z.string(),
  actor: z.strictObject({ kind: z.enum(['user', 'admin', 'system']), id: z.string() }),
  agentRef: z.strictObject({
    agentKey: z.string().nullable(),
    version: z.number().nullable(),
    slotKey: z.string().nullable(),
    provider: providerRef,
  }),
  scenario: z.string(),
  runtimePermissionEnvelopeId: z.string().nullable(),
  sourceSnapshotId: z.string().nullable(),
  inputEnvelope: z.strictObject({
    instructions: z.string(),
    instruction: z.string(),
    contextSummary: z.array(contextPart),
    knowledge: z.array(contextPart),
    formatRequirements: z.string().nullable(),
  }),
  outputContract: z.strictObject({
    type: z.enum(['text', 'json', 'sections']),
    schema: z.record(z.string(), z.unknown()).optional(),
    sections: z.array(z.string()).optional(),
    maxLength: z.number().optional(),
  }),
  traceabilityPolicy: z.strictObject({ requireSourceRefs: z.boolean() }),
  timeoutPolicy: z.strictObject({ totalSeconds: z.number().positive(), idleSeconds: z.number().positive() }),
  retryPolicy: z.strictObject({ maxAttempts: z.number().int().positive() }),
  auditPolicy: z.strictObject({ level: z.enum(['summary', 'none']) }),
  workbench: z.unknown().optional(),
} satisfies Record<keyof AgentRuntimeRequest, z.ZodType>);
