import { createHash } from 'node:crypto';
import type { AgentRuntimeRequest } from './agent-runtime-request.js';

/** The actor as a provider may know it: the same for the same actor, and nobody outside can tell who (§4.1). */
export function pseudonym(actor: AgentRuntimeRequest['actor']): string {
  const digest = createHash('sha256').update(`${actor.kind}:${actor.id}`).digest('hex');
  return `am-${digest.slice(0, 24)}`;
}
