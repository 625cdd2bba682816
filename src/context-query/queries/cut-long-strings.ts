import type { JsonValue } from '../../common/json/json-value.js';

/** Longest string of an answer, in bytes of UTF-8 (decision 28). */
export const MAX_STRING_BYTES = 102_400;

const encoder = new TextEncoder();

/** The text, or as much of its beginning as fits, ending between two characters. */
export function cutLongString(text: string): string {
  // No UTF-16 unit takes more than three bytes.
  if (text.length * 3 <= MAX_STRING_BYTES) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(MAX_STRING_BYTES));
  return read === text.length ? text : text.slice(0, read);
}

export interface CutValue {
  value: JsonValue;
  /** Some string in it was cut. */
  truncated: boolean;
}

/** Cuts every string in a value, in place where it is a list or an object. */
export function cutLongStrings(value: JsonValue): CutValue {
  const root: { value: JsonValue } = { value };
  let truncated = false;
  // A stack of its own: a value may be nested deeper than calls may.
  const containers: Record<string, JsonValue>[] = [root];
  for (let container = containers.pop(); container !== undefined; container = containers.pop()) {
    for (const key of Object.keys(container)) {
      const item = container[key];
      if (typeof item === 'string') {
        const cut = cutLongString(item);
        if (cut === item) continue;
        Object.defineProperty(container, key, { value: cut });
        truncated = true;
      } else if (typeof item === 'object' && item !== null) {
        containers.push(item as Record<string, JsonValue>);
      }
    }
  }
  return { value: root.value, truncated };
}
