import type { JsonObject } from '../../common/json/json-value.js';
import { readAnswer } from '../../common/json/read-answer.js';
import { JsonTextError } from '../../common/json/read-json.js';
import type { OutputContract } from './agent-runtime-request.js';
import type { RuntimeFailure } from './agent-runtime-response.js';
import { failureOf, RuntimeFault } from './failure-classification.js';

/**
 * The JSON object an answer consists of, alone or in one code fence; null where it is no object. Whether it keeps
 * the output contract is checked where the contract is enforced, not here. Throws RuntimeFault `provider_bad_response`
 * for JSON that is nested too deep.
 */
export function structuredAnswer(text: string, contract: OutputContract): JsonObject | null {
  if (contract.type !== 'json') return null;
  const [, fenced] = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/i.exec(text) ?? [];
  try {
    const value = readAnswer(fenced ?? text);
    return isObject(value) ? value : null;
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new RuntimeFault(
      failureOf('provider_bad_response', error.saidOf('the answer'), { code: 'malformed' }),
    );
  }
}

/** How an answer ended; one that cannot be taken has failed. */
export function orFailed<End>(endOf: () => End): End | { kind: 'failed'; failure: RuntimeFailure } {
  try {
    return endOf();
  } catch (error) {
    if (error instanceof RuntimeFault) return { kind: 'failed', failure: error.failure };
    throw error;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
