import { ValidationError } from '../errors/domain-error.js';
import type { JsonValue } from './json-value.js';
import { JsonTextError, readJson, type JsonRules } from './read-json.js';

/**
 * Parses JSON that a caller sent (`readJson`): nothing of it is changed in silence. Throws a ValidationError that names
 * the field of a number that would be.
 */
export function parseJson(text: string, { maxDepth }: Pick<JsonRules, 'maxDepth'>): JsonValue {
  try {
    return readJson(text, { maxDepth, unsafeNumbers: 'refuse' });
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    const { kind, problem, path } = error;
    if (kind === 'number') throw ValidationError.ofFields([{ field: path, message: problem }]);
    throw new ValidationError(error.saidOf('the body'));
  }
}
