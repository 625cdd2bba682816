import { resolvePaths, type PredecessorPaths } from '../paths/resolve-paths.js';
import type { ContextTokenHolder } from '../tokens/context-tokens.js';
import { ContextQueryError } from './context-query-error.js';
import { visibleLineage } from './visible-lineage.js';
import type { VisitSource } from './visit-source.js';

/** How the caller came to be visited. Throws 403 for a visit that is not the caller's own (decision 22). */
export async function queryPath(
  source: VisitSource,
  holder: ContextTokenHolder,
  { visitUuid }: { visitUuid: string },
): Promise<PredecessorPaths> {
  if (visitUuid !== holder.visitUuid) throw new ContextQueryError(403, 'the token belongs to another visit');
  return resolvePaths(await visibleLineage(source, holder), visitUuid);
}
