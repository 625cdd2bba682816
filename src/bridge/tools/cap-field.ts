/** Largest value of one field handed to a model, in bytes of UTF-8 (internal-context-query.md §9.3). */
export const FIELD_BYTES = 102_400;

export interface Capped {
  readonly value: unknown;
  readonly truncated: boolean;
}

/**
 * Cuts a field's value to the limit: strings at a character's boundary, lists and objects after the last item
 * that fits. Deep values are walked with a bounded depth; what lies deeper is dropped.
 */
export function capField(value: unknown, limit = FIELD_BYTES): Capped {
  const state = { left: limit, truncated: false };
  const capped = cap(value, state, 0);
  return { value: capped ?? null, truncated: state.truncated };
}

const MAX_DEPTH = 100;

interface Budget {
  left: number;
  truncated: boolean;
}

function cap(value: unknown, budget: Budget, depth: number): unknown {
  if (typeof value === 'string') return capText(value, budget);
  if (typeof value !== 'object' || value === null) {
    budget.left -= 5;
    return value;
  }
  if (depth >= MAX_DEPTH) {
    budget.truncated = true;
    return null;
  }
  if (Array.isArray(value)) {
    const kept: unknown[] = [];
    for (const item of value) {
      if (isSpent(budget)) break;
      kept.push(cap(item, budget, depth + 1));
    }
    return kept;
  }
  const kept: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (isSpent(budget)) break;
    const bytes = Buffer.byteLength(key);
    if (bytes > budget.left) {
      budget.left = 0;
      budget.truncated = true;
      break;
    }
    budget.left -= bytes;
    kept.push([key, cap(item, budget, depth + 1)]);
  }
  return Object.fromEntries(kept);
}

function isSpent(budget: Budget): boolean {
  if (budget.left > 0) return false;
  budget.truncated = true;
  return true;
}

function capText(text: string, budget: Budget): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= budget.left) {
    budget.left -= bytes;
    return text;
  }
  budget.truncated = true;
  const cut = cutText(text, Math.max(budget.left, 0));
  budget.left = 0;
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
