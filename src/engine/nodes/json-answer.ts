import type { JsonValue } from '../../common/json/json-value.js';
import { readAnswer } from '../../common/json/read-answer.js';
import { JsonTextError } from '../../common/json/read-json.js';
import { NodeFailure } from './node-failure.js';

/** `readAnswer` for the text an agent gave. Throws NodeFailure for JSON that is nested too deep. */
export function jsonAnswer(text: string): JsonValue | undefined {
  try {
    return readAnswer(text);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new NodeFailure('provider_bad_response', error.saidOf('the answer'));
  }
}
