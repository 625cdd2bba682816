/** Levels a definition may be nested; each iteration takes five. */
const MAX_DEPTH = 100;

/** Why something is no JSON value of bearable depth, or null. No recursion: it may be anything. */
export function jsonProblem(given: unknown): string | null {
  const pending: { value: unknown; depth: number }[] = [{ value: given, depth: 0 }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, depth } = next;
    if (value === null || typeof value === 'string' || typeof value === 'boolean') continue;
    if (typeof value === 'number' && Number.isFinite(value)) continue;
    if (typeof value !== 'object') return `holds a ${typeof value}, which is not JSON`;
    if (depth >= MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`;
    const prototype: unknown = Object.getPrototypeOf(value);
    if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) {
      return 'holds an object that is not plain JSON';
    }
    for (const one of Object.values(value) as unknown[]) {
      // A key without a value is left out of JSON.
      if (one !== undefined) pending.push({ value: one, depth: depth + 1 });
    }
  }
  return null;
}
