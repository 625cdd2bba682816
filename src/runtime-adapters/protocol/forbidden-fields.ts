import type { SecretRedactor } from '../../credentials/index.js';
import type { AgentRuntimeRequest } from './agent-runtime-request.js';
import { runtimeRequestSchema } from './runtime-request-schema.js';

/** A field that must not leave, and which rule of agent-runtime-protocol.md §4.1 it breaks. */
export interface ForbiddenField {
  /** Dotted path into the request. */
  readonly field: string;
  readonly why:
    'secret' | 'raw provider response' | 'self-reported permission' | 'unknown field' | 'malformed';
}

const NAMES: readonly { why: ForbiddenField['why']; pattern: RegExp }[] = [
  {
    why: 'secret',
    pattern: /token|passw|pwd|secret|api_?key|credential|authori[sz]ation|cookie|private_?key/i,
  },
  { why: 'raw provider response', pattern: /raw|provider_?response|response_?body/i },
  {
    why: 'self-reported permission',
    pattern: /permission|grant|scope|tools?$|allow|role|egress|acceptance_?eligible/i,
  },
];

/**
 * What keeps a request from leaving: a field that the protocol does not have, named by what it would smuggle, or a
 * live secret inside any text. Empty: it may go.
 */
export function forbiddenFieldsOf(request: AgentRuntimeRequest, redactor: SecretRedactor): ForbiddenField[] {
  const leaving = { ...request, workbench: undefined };
  return [...unknownFields(leaving), ...textsWithSecrets(leaving, '', redactor)];
}

/** Names why a field is not accepted, for bodies of callers as well. */
export function whyForbidden(name: string): ForbiddenField['why'] {
  return NAMES.find(({ pattern }) => pattern.test(name))?.why ?? 'unknown field';
}

function unknownFields(request: unknown): ForbiddenField[] {
  const parsed = runtimeRequestSchema.safeParse(request);
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue): ForbiddenField[] => {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') return [{ field: path.join('.'), why: 'malformed' }];
    return issue.keys.map((key) => ({ field: [...path, key].join('.'), why: whyForbidden(key) }));
  });
}

function textsWithSecrets(value: unknown, path: string, redactor: SecretRedactor): ForbiddenField[] {
  if (typeof value === 'string') return redactor.holdsSecret(value) ? [{ field: path, why: 'secret' }] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const field = path === '' ? key : `${path}.${key}`;
    const named = redactor.holdsSecret(key) ? [{ field: path, why: 'secret' as const }] : [];
    return [...named, ...textsWithSecrets(inner, field, redactor)];
  });
}
