import type { JsonValue } from './json-value.js';
import { JsonTextError, MAX_ANSWER_DEPTH, readJson } from './read-json.js';

/**
 * The value that a text is which a provider, a model or a tool wrote; numbers that would be changed keep their digits
 * as texts. Undefined where the text is no JSON. Throws a JsonTextError for JSON that is not taken all the same:
 * nested deeper than `maxDepth`, or with a key `__proto__`.
 */
export function readAnswer(text: string, maxDepth = MAX_ANSWER_DEPTH): JsonValue | undefined {
  try {
    return readJson(text, { maxDepth, unsafeNumbers: 'text' });
  } catch (error) {
    if (error instanceof JsonTextError && error.kind === 'syntax') return undefined;
    throw error;
  }
}
