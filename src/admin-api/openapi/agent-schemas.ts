import { z } from 'zod';
import { agentConfigSchema, invocationSchema } from '../../agents/index.js';
import { RUNTIME_FAILURE_TYPES } from '../../runtime-adapters/protocol/agent-runtime-response.js';
import { CALL_STATUSES } from '../../runtime-adapters/index.js';
import { anyObject, time } from './parameters.js';

/** Agents and their calls as the OpenAPI document shows them; a test holds real answers against them. */

/** The use cases judge a config, and name every problem of it. */
export const newAgentVersion = z
  .strictObject({ config: agentConfigSchema.meta({ id: 'AgentConfig' }) })
  .meta({ id: 'NewAgentVersion' });
export const agentVersionCopy = z
  .strictObject({
    config: anyObject
      .optional()
      .describe('Top-level keys of the config that replace the copied ones; null removes one'),
  })
  .meta({ id: 'AgentVersionCopy' });

export const agent = z
  .strictObject({
    agentKey: z.string(),
    displayName: z.string(),
    description: z.string(),
    currentVersion: z.int().nullable(),
    latestVersion: z.int().nullable(),
    createdAt: time,
    updatedAt: time,
    archivedAt: time.nullable(),
  })
  .meta({ id: 'Agent' });

export const provider = z.enum(['hermes', 'new-api', 'dify', 'agentscope', 'isolated-writer']);
export const callStatus = z.enum(CALL_STATUSES);

export const agentSummary = agent
  .extend({
    provider: provider.nullable(),
    reference: anyObject.nullable().describe('At the provider; without the credential'),
    credentialRef: z.string().nullable(),
    lastRun: z
      .strictObject({
        commandId: z.string(),
        status: callStatus,
        requestedAt: time,
        completedAt: time.nullable(),
      })
      .nullable(),
  })
  .meta({ id: 'AgentSummary' });

export const agentVersion = z
  .strictObject({
    agentKey: z.string(),
    version: z.int(),
    status: z.enum(['DRAFT', 'PUBLISHED']),
    config: anyObject.describe('As it was given'),
    copiedFrom: z.int().nullable(),
    createdAt: time,
    createdBy: z.string(),
    publishedAt: time.nullable(),
    publishedBy: z.string().nullable(),
    publishReason: z.string().nullable(),
  })
  .meta({ id: 'AgentVersion' });

export const slot = z
  .strictObject({ slotKey: z.string(), agentKey: z.string(), updatedAt: time })
  .meta({ id: 'Slot' });

export const invocation = invocationSchema.meta({ id: 'Invocation' });

export const usage = z
  .strictObject({
    promptTokens: z.number().nullable(),
    completionTokens: z.number().nullable(),
    totalTokens: z.number().nullable(),
    durationMs: z.number(),
    cost: z.strictObject({ amount: z.string(), currency: z.string() }).optional(),
  })
  .meta({ id: 'RuntimeUsage' });

export const failure = z
  .strictObject({
    type: z.enum(RUNTIME_FAILURE_TYPES),
    code: z.string().nullable(),
    httpStatus: z.int().nullable(),
    retryable: z.boolean(),
    message: z.string(),
  })
  .meta({ id: 'RuntimeFailure' });

export const traceability = z.enum(['muse_source_refs', 'untraceable_provider_context', 'none']);
export const finishReason = z.enum(['stop', 'length', 'tool_call', 'partial', 'error', 'cancelled']);

const response = {
  status: z.enum(['succeeded', 'failed', 'retryable_failed', 'cancelled']),
  outputSummary: z.string(),
  provider,
  providerRequestId: z.string().nullable(),
  usage: usage.nullable(),
  traceability,
  finishReason: finishReason.nullable(),
  failure: failure.nullable(),
  candidateId: z.string().nullable(),
};
export const invocationAnswer = z
  .strictObject({ commandId: z.string(), ...response })
  .meta({ id: 'InvocationAnswer' });

export const runtimeEvent = z
  .looseObject({
    type: z.enum([
      'runtime.requested',
      'runtime.started',
      'runtime.delta',
      'runtime.tool_call',
      'runtime.tool_result',
      'runtime.todo',
      'runtime.completed',
      'runtime.failed',
      'runtime.cancelled',
    ]),
    commandId: z.string(),
    response: invocationAnswer.optional().describe('Of the last event'),
  })
  .meta({ id: 'RuntimeEvent', description: 'The data of one event; its name is `type`' });
