import type { JsonValue } from '../../common/json/json-value.js';
import { parseOrdered } from '../../common/json/parse-ordered.js';
import type { Envelope } from '../../runs/envelope.js';
import type { ContextTokenHolder } from '../tokens/context-tokens.js';
import { ContextQueryError } from './context-query-error.js';
import { cutLongString, cutLongStrings } from './cut-long-strings.js';
import { findVisibleVisit, type VisitWanted } from './find-visible-visit.js';
import { pickField } from './pick-field.js';
import { visibleLineage } from './visible-lineage.js';
import type { VisitSource } from './visit-source.js';

export interface OutputQuery extends VisitWanted {
  /** Null: the whole `data`. */
  field: string | null;
}

/** `data` of the output query (internal-context-query.md §2.2). */
export interface NodeOutput {
  nodeId: string;
  iterSeq: number;
  visitUuid: string;
  status: 200 | 500;
  message: string;
  data: JsonValue;
  requestedField: string | null;
  /** Some string was longer than 100 KB. */
  truncated?: true;
}

/** What a visit left behind. A failed one answers its error and no data, whatever field is asked for. */
export async function queryOutput(
  source: VisitSource,
  holder: ContextTokenHolder,
  query: OutputQuery,
): Promise<NodeOutput> {
  const { visits } = await visibleLineage(source, holder);
  const visit = findVisibleVisit(visits, query);
  const text = await source.envelope(holder.runId, visit);
  if (text === null) throw new ContextQueryError(404, `this visit of ${visit.nodeId} has no output yet`);
  const envelope = parseOrdered(text) as unknown as Envelope;
  const { field } = query;
  const wanted = envelope.data && field !== null ? pickField(envelope.data, field) : envelope.data;
  const { value: data, truncated } = cutLongStrings(wanted);
  const message = cutLongString(envelope.message);
  return {
    nodeId: visit.nodeId,
    iterSeq: visit.iterSeq,
    visitUuid: visit.visitUuid,
    status: envelope.status,
    message,
    data,
    requestedField: field,
    ...(truncated || message !== envelope.message ? { truncated: true } : {}),
  };
}
