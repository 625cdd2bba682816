import { createHash } from 'node:crypto';
import { canonicalJson } from '../common/json/canonical-json.js';
import type { JsonValue } from '../common/json/json-value.js';

/** Who did it: a key of the admin API by its name, a key of `/api/v1`, or the product itself. */
export interface AuditActor {
  kind: 'admin-key' | 'api-key' | 'system';
  name: string;
}

/** One thing that was done, as those who do it describe it. */
export interface AuditEntry {
  actor: AuditActor;
  /** `agent.published`, `slot.bound`: the subject's type and a past participle. */
  action: string;
  subject: { type: string; id: string };
  /** The request it came with. */
  correlationId: string | null;
  /** Why, where somebody was asked. */
  reason?: string | null;
  /** State before and after; null where there was none. Redacted on the way in. */
  before: JsonValue;
  after: JsonValue;
}

/** An entry in its place in the chain. */
export interface ChainedAuditEntry extends AuditEntry {
  /** 1, 2, 3, … without gaps. */
  seq: number;
  /** ISO-8601 UTC. */
  at: string;
  reason: string | null;
  /** Hash of the entry before; of the chain's id for the first. Lower-case SHA-256 hex. */
  prevHash: string;
}

/** What the first entry's `prevHash` must be: two databases never share a chain. */
export function genesisHash(chainId: string): string {
  return createHash('sha256').update(`audit-chain:${chainId}`).digest('hex');
}

/** SHA-256 over the canonical JSON of everything the entry says, its place and its predecessor's hash included. */
export function entryHash(entry: ChainedAuditEntry): string {
  const { seq, at, actor, action, subject, correlationId, reason, before, after, prevHash } = entry;
  const said = {
    seq,
    at,
    // As it is: what somebody adds to it changes the hash.
    actor: { ...actor },
    action,
    subject: { type: subject.type, id: subject.id },
    correlationId,
    reason,
    before,
    after,
    prevHash,
  };
  return createHash('sha256').update(canonicalJson(said)).digest('hex');
}
