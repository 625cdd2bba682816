import type { FieldError } from '../../common/errors/domain-error.js';
import { missingIsRequired, zodFieldErrors } from '../../common/errors/zod-field-errors.js';
import { jsonSchemaProblems } from '../../workflows/index.js';
import {
  agentConfigSchema,
  outputContractSchema,
  REFERENCE_KEYS,
  RUNTIME_PROVIDERS,
  type AgentConfig,
  type OutputContractConfig,
} from './agent-config.js';

export type CheckedConfig = { config: AgentConfig; problems: [] } | { config: null; problems: FieldError[] };

/**
 * Everything that is wrong with a config in itself, one entry a problem, with paths that begin with `config`. What it
 * refers to (credentials, runtimes, other agents) is checked when it is published.
 */
export function checkAgentConfig(given: unknown): CheckedConfig {
  const parsed = agentConfigSchema.safeParse(given, { error: missingIsRequired });
  const problems = parsed.success ? [] : zodFieldErrors(parsed.error).map(explained);
  for (const problem of [...referenceProblems(given), ...contractProblems(given)]) {
    if (!problems.some(({ field }) => field === problem.field)) problems.push(problem);
  }
  const prefixed = problems.map(({ field, message }) => ({
    field: field === '' ? 'config' : `config.${field}`,
    message,
  }));
  return parsed.success && prefixed.length === 0
    ? { config: parsed.data, problems: [] }
    : { config: null, problems: prefixed };
}

/** What is wrong with an output contract beyond its shape; `field` names where it stands. */
export function outputContractProblems(field: string, contract: OutputContractConfig): FieldError[] {
  const { type, schema, sections } = contract;
  const problems: FieldError[] = schema ? jsonSchemaProblems(`${field}.schema`, schema) : [];
  if (schema && type !== 'json') {
    problems.push({ field: `${field}.schema`, message: 'belongs to the type json' });
  }
  if (sections && type !== 'sections') {
    problems.push({ field: `${field}.sections`, message: 'belong to the type sections' });
  }
  if (type === 'sections' && !sections) {
    problems.push({ field: `${field}.sections`, message: 'is required for the type sections' });
  }
  if (sections && new Set(sections).size < sections.length) {
    problems.push({ field: `${field}.sections`, message: 'must not name a section twice' });
  }
  return problems;
}

function contractProblems(given: unknown): FieldError[] {
  const contract = outputContractSchema.safeParse(member(given, 'outputContract'));
  return contract.success ? outputContractProblems('outputContract', contract.data) : [];
}

/** The reference that the provider needs: whether it is there, is complete, and is no other provider's. */
function referenceProblems(given: unknown): FieldError[] {
  const named = member(given, 'runtimeProvider');
  const provider = RUNTIME_PROVIDERS.find((known) => known === named);
  if (!provider) return [];
  const key = REFERENCE_KEYS[provider];
  const foreign = Object.values(REFERENCE_KEYS)
    .filter((other) => other !== key && isPresent(member(given, other)))
    .map((other) => ({ field: other, message: `does not belong to the provider ${provider}` }));
  const reference = member(given, key);
  if (!isPresent(reference)) {
    return [...foreign, { field: key, message: `is required for the provider ${provider}` }];
  }
  return [...foreign, ...incomplete(provider, reference)];
}

function incomplete(provider: string, reference: unknown): FieldError[] {
  if (provider === 'dify') {
    const field = member(reference, 'appType') === 'workflow' ? 'workflowId' : 'appId';
    if (isPresent(member(reference, field))) return [];
    return [
      { field: `dify.${field}`, message: `is required for the appType ${shown(reference, 'appType')}` },
    ];
  }
  if (provider === 'agentscope') {
    const agentId = isPresent(member(reference, 'agentId'));
    if (member(reference, 'protocolVersion') === 2 && !agentId) {
      return [{ field: 'agentscope.agentId', message: 'is required for protocolVersion 2' }];
    }
    if (!agentId && !isPresent(member(reference, 'graphId'))) {
      return [{ field: 'agentscope.agentId', message: 'agentId or graphId is required' }];
    }
  }
  return [];
}

function explained({ field, message }: FieldError): FieldError {
  return /(^|\.)consoleUrl$/.test(field)
    ? { field, message: 'is built by the server and must not be sent' }
    : { field, message };
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function shown(value: unknown, key: string): string {
  const told = member(value, key);
  return typeof told === 'string' ? told.slice(0, 40) : '(none)';
}
