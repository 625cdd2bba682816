/** Largest value of one field handed to a model, in bytes of UTF-8 (internal-context-query.md §9.3). */
export const FIELD_BYTES = 102_400;

export interface Capped {
  readonly value: unknown;
  readonly truncated: boolean;
  /** What the value takes: a text its own bytes, anything else its JSON text, escapes not counted. */
  readonly bytes: number;
}

/**
 * Cuts a field's value to the limit: strings at a character's boundary, lists and objects after the last item
 * that fits. Brackets, quotes and commas count: a million empty lists are no small value. Deep values are walked with a
 * bounded depth; what lies deeper is dropped.
 */
export function capField(value: unknown, limit = FIELD_BYTES): Capped {
  const budget = { left: limit, spent: 0, truncated: false };
  const capped = cap(value, budget, 0);
  return { value: capped ?? null, truncated: budget.truncated, bytes: budget.spent };
}

const MAX_DEPTH = 100;

interface Budget {
  left: number;
  spent: number;
  truncated: boolean;
}

/** Undefined for a value of which nothing fits. */
function cap(value: unknown, budget: Budget, depth: number): unknown {
  if (typeof value === 'string') return depth > 0 && !spend(budget, 2) ? undefined : capText(value, budget);
  if (typeof value !== 'object' || value === null) {
    return spend(budget, String(value).length) ? value : undefined;
  }
  if (!spend(budget, 2)) return undefined;
  if (depth >= MAX_DEPTH) {
    budget.truncated = true;
    return null;
  }
  return Array.isArray(value) ? capList(value, budget, depth) : capObject(value, budget, depth);
}

function capList(list: readonly unknown[], budget: Budget, depth: number): unknown[] {
  const kept: unknown[] = [];
  for (const item of list) {
    if (kept.length > 0 && !spend(budget, 1)) break;
    const capped = cap(item, budget, depth + 1);
    if (capped === undefined) break;
    kept.push(capped);
  }
  return kept;
}

function capObject(object: object, budget: Budget, depth: number): object {
  const kept: [string, unknown][] = [];
  for (const [key, item] of Object.entries(object)) {
    if (!spend(budget, keyBytes(key, kept.length === 0))) break;
    const capped = cap(item, budget, depth + 1);
    if (capped === undefined) break;
    kept.push([key, capped]);
  }
  return Object.fromEntries(kept);
}

/** A key with its quotes and colon, and the comma before it. */
export function keyBytes(key: string, isFirst: boolean): number {
  return Buffer.byteLength(key) + (isFirst ? 3 : 4);
}

/** False when it does not fit; then nothing else does. */
function spend(budget: Budget, bytes: number): boolean {
  if (bytes > budget.left) {
    budget.left = 0;
    budget.truncated = true;
    return false;
  }
  budget.left -= bytes;
  budget.spent += bytes;
  return true;
}

function capText(text: string, budget: Budget): string {
  const bytes = Buffer.byteLength(text);
  const cut = bytes <= budget.left ? text : cutText(text, budget.left);
  const { left } = budget;
  spend(budget, bytes);
  if (cut !== text) budget.spent += Math.min(left, Buffer.byteLength(cut));
  return cut;
}

/** The longest beginning of a text within `limit` bytes of UTF-8 that ends at a character's boundary. */
export function cutText(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  let end = limit;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
