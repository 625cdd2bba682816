import { z } from 'zod';
import type { JsonObject } from '../../common/json/json-value.js';
import { toolNames } from '../../workflows/index.js';
import { ENVELOPE_PARTS } from '../../runtime-adapters/permission/envelope-policy.js';

/** Providers a version may name; `isolated-writer` needs a configured writer as well. */
export const RUNTIME_PROVIDERS = ['hermes', 'new-api', 'dify', 'agentscope', 'isolated-writer'] as const;

/** Where each provider's own reference stands in a config. */
export const REFERENCE_KEYS = {
  hermes: 'hermes',
  'new-api': 'newApi',
  dify: 'dify',
  agentscope: 'agentscope',
  'isolated-writer': 'writer',
} as const satisfies Record<(typeof RUNTIME_PROVIDERS)[number], string>;

const MAX_SECONDS = 86_400;

const credentialRef = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,100}$/, 'must be the name of a configured credential');
/** An id at the provider; goes into URLs. */
const externalId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/, 'must be an id of the provider');
const model = z.string().trim().min(1, 'must not be empty').max(200);
const agentKey = z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be an agentKey');

/** Shared by versions and by invocations that bring a contract of their own. */
export const outputContractSchema = z.strictObject({
  type: z.enum(['text', 'json', 'sections']),
  schema: z
    .custom<JsonObject>(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
      'must be a JSON Schema object',
    )
    .optional(),
  sections: z.array(z.string().trim().min(1, 'must not be empty').max(200)).min(1).max(100).optional(),
  /** Characters. */
  maxLength: z.int().min(1).max(10_000_000).optional(),
});

/** `config` of a version (contract.md). Unknown keys are refused: none may smuggle a URL or a secret. */
export const agentConfigSchema = z.strictObject({
  runtimeProvider: z.enum(RUNTIME_PROVIDERS, {
    error: ({ input }) =>
      input === undefined ? 'is required' : `must be one of ${RUNTIME_PROVIDERS.join(', ')}`,
  }),
  hermes: z.strictObject({ model, tools: toolNames.optional() }).optional(),
  newApi: z.strictObject({ model, credentialRef }).optional(),
  dify: z
    .strictObject({
      appType: z.enum(['agent', 'chat', 'workflow']),
      appId: externalId.nullish(),
      workflowId: externalId.nullish(),
      responseMode: z.enum(['streaming', 'blocking']).optional(),
      credentialRef,
    })
    .optional(),
  agentscope: z
    .strictObject({
      graphId: externalId.nullish(),
      agentId: externalId.nullish(),
      version: z.string().min(1).max(100).nullish(),
      protocolVersion: z.literal([1, 2], 'must be 1 or 2').optional(),
      credentialRef,
    })
    .optional(),
  writer: z.strictObject({ name: externalId, model, credentialRef }).optional(),
  instructions: z.string().max(200_000).optional(),
  /** What the model behind it is, in words for people. */
  modelSummary: z.string().max(2_000).optional(),
  outputContract: outputContractSchema.optional(),
  envelope: z
    .strictObject({
      allow: z.array(z.enum(ENVELOPE_PARTS)).max(ENVELOPE_PARTS.length),
      maxChars: z.int().min(1).max(10_000_000).optional(),
    })
    .optional(),
  traceabilityPolicy: z.strictObject({ requireSourceRefs: z.boolean() }).optional(),
  budget: z.strictObject({ tokens: z.int().min(1) }).optional(),
  judge: z
    .strictObject({
      agentKey,
      onFailure: z.enum(['record', 'block']),
      timeoutSeconds: z.number().positive().max(MAX_SECONDS).optional(),
    })
    .optional(),
  timeoutPolicy: z
    .strictObject({
      totalSeconds: z.number().positive().max(MAX_SECONDS),
      idleSeconds: z.number().positive().max(MAX_SECONDS).optional(),
    })
    .optional(),
  retryPolicy: z.strictObject({ maxAttempts: z.int().min(1).max(10) }).optional(),
});

export type AgentConfig = z.infer<typeof agentConfigSchema>;
export type OutputContractConfig = z.infer<typeof outputContractSchema>;
