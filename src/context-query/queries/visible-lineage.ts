import type { Lineage } from '../paths/visit-node.js';
import type { ContextTokenHolder } from '../tokens/context-tokens.js';
import { ContextQueryError } from './context-query-error.js';
import type { VisitSource } from './visit-source.js';

/** What the holder of a token may see. Throws 404 when its own visit is not known. */
export async function visibleLineage(source: VisitSource, holder: ContextTokenHolder): Promise<Lineage> {
  const lineage = await source.lineage(holder.runId, holder.visitUuid);
  if (!lineage) throw new ContextQueryError(404, 'the visit is not known');
  return lineage;
}
