import type { JsonValue } from '../../common/json/json-value.js';
import type { LogEntry } from '../../events/log-entry.js';
import type { VisitNode } from '../paths/visit-node.js';
import type { ContextTokenHolder } from '../tokens/context-tokens.js';
import { ContextQueryError } from './context-query-error.js';
import { cutLongString, cutLongStrings } from './cut-long-strings.js';
import { findVisibleVisit, type VisitWanted } from './find-visible-visit.js';
import { visibleLineage } from './visible-lineage.js';
import type { VisitSource } from './visit-source.js';

export const META_KINDS = ['THINKING', 'TOOL_CALLS', 'TODO', 'ALL'] as const;
export type MetaKind = (typeof META_KINDS)[number];

export interface MetaQuery {
  kind: MetaKind;
  /** The visit itself, or the node and which of its visits. */
  wanted: { visitUuid: string } | VisitWanted;
}

/** One step of a visit's tool use; `args` and `result` are text, JSON text where they were no string. */
export type ToolCall = { tool: string; args: string } | { tool: string; result: string };

/** `data` of the meta query (internal-context-query.md §2.3); which parts stand there depends on the kind. */
export interface NodeMeta {
  nodeId: string;
  iterSeq: number;
  visitUuid: string;
  /** The thoughts, one a line. */
  thinking?: string;
  toolCalls?: ToolCall[];
  /** The newest list; empty where there was none. */
  todoList?: JsonValue;
  logs?: LogEntry[];
  /** Some string was longer than 100 KB, or the log too long for one answer. */
  truncated?: true;
}

/** What a visit thought and did. One that is not an agent's has empty text and lists. */
export async function queryMeta(
  source: VisitSource,
  holder: ContextTokenHolder,
  { kind, wanted }: MetaQuery,
): Promise<NodeMeta> {
  const { visits } = await visibleLineage(source, holder);
  const visit = 'visitUuid' in wanted ? byUuid(visits, wanted.visitUuid) : findVisibleVisit(visits, wanted);
  const { entries, truncated } = await source.logs(holder.runId, visit);
  const parts = new MetaParts(entries);
  const meta: NodeMeta = {
    nodeId: visit.nodeId,
    iterSeq: visit.iterSeq,
    visitUuid: visit.visitUuid,
    ...(kind === 'THINKING' || kind === 'ALL' ? { thinking: parts.thinking() } : {}),
    ...(kind === 'TOOL_CALLS' || kind === 'ALL' ? { toolCalls: parts.toolCalls() } : {}),
    ...(kind === 'TODO' || kind === 'ALL' ? { todoList: parts.todoList() } : {}),
    ...(kind === 'ALL' ? { logs: parts.logs() } : {}),
  };
  return truncated || parts.truncated ? { ...meta, truncated: true } : meta;
}

function byUuid(visits: readonly VisitNode[], visitUuid: string): VisitNode {
  const found = visits.find((visit) => visit.visitUuid === visitUuid);
  if (found) return found;
  throw new ContextQueryError(404, `no visit ${visitUuid} among the predecessors`);
}

/** Reads the parts of an answer out of a visit's log, and notes whether it had to cut. */
class MetaParts {
  truncated = false;

  constructor(private readonly entries: readonly LogEntry[]) {}

  thinking(): string {
    const thoughts = this.entries.filter(({ type }) => type === 'THINKING').map(({ message }) => message);
    return this.#cut(thoughts.join('\n'));
  }

  toolCalls(): ToolCall[] {
    return this.entries.flatMap(({ type, message, detail }): ToolCall[] => {
      if (type === 'TOOL_CALL') return [{ tool: this.#cut(message), args: this.#cut(detail ?? '') }];
      if (type === 'TOOL_RESULT') return [{ tool: this.#cut(message), result: this.#cut(detail ?? '') }];
      return [];
    });
  }

  todoList(): JsonValue {
    const last = this.entries.findLast(({ type }) => type === 'TODO_UPDATE');
    const { value, truncated } = cutLongStrings(JSON.parse(last?.detail ?? '[]') as JsonValue);
    this.truncated ||= truncated;
    return value;
  }

  logs(): LogEntry[] {
    return this.entries.map(({ type, timestamp, message, detail }) => ({
      type,
      timestamp,
      message: this.#cut(message),
      detail: detail === null ? null : this.#cut(detail),
    }));
  }

  #cut(text: string): string {
    const cut = cutLongString(text);
    this.truncated ||= cut !== text;
    return cut;
  }
}
