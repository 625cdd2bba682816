import { createHash, randomUUID } from 'node:crypto';
import type { InputEnvelope } from '../protocol/agent-runtime-request.js';

/** What one call sent, part by part; the texts themselves are not kept (agent-runtime-protocol.md §9). */
export interface SourceSnapshot {
  id: string;
  parts: SnapshotPart[];
}

export interface SnapshotPart {
  /** `instructions`, `instruction`, `formatRequirements`, or a context part's own kind. */
  kind: string;
  /** A context part's reference; null for what the caller or the agent's version says itself. */
  ref: string | null;
  /** SHA-256 of the UTF-8 text, lower-case hex. */
  digest: string;
  /** Bytes of UTF-8. */
  bytes: number;
}

export function snapshotOf(input: InputEnvelope): SourceSnapshot {
  const own: [string, string | null][] = [
    ['instructions', input.instructions],
    ['instruction', input.instruction],
    ['formatRequirements', input.formatRequirements],
  ];
  return {
    id: randomUUID(),
    parts: [
      ...own.flatMap(([kind, text]) => (text ? [partOf(kind, null, text)] : [])),
      ...[...input.contextSummary, ...input.knowledge].map(({ kind, ref, text }) => partOf(kind, ref, text)),
    ],
  };
}

function partOf(kind: string, ref: string | null, text: string): SnapshotPart {
  const digest = createHash('sha256').update(text).digest('hex');
  return { kind, ref, digest, bytes: Buffer.byteLength(text) };
}
