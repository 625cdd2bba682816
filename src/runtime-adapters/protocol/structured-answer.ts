import type { JsonObject } from '../../common/json/json-value.js';
import type { OutputContract } from './agent-runtime-request.js';

/**
 * The JSON object an answer consists of, alone or in one code fence; null where it is no object. Whether it keeps
 * the output contract is checked where the contract is enforced, not here.
 */
export function structuredAnswer(text: string, contract: OutputContract): JsonObject | null {
  if (contract.type !== 'json') return null;
  const [, fenced] = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/i.exec(text) ?? [];
  try {
    const value: unknown = JSON.parse(fenced ?? text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
