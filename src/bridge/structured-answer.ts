import { readAnswer } from '../common/json/read-answer.js';
import { JsonTextError } from '../common/json/read-json.js';
import { RunFailure } from './run-failure.js';

const FENCED = /^```(?:json)?\s*\n([\s\S]*?)\n?```$/i;

/**
 * The JSON object a text consists of, possibly inside one code fence; null for any other text. Numbers that would be
 * changed keep their digits as texts. Throws RunFailure for JSON that is nested too deep.
 */
export function jsonObjectIn(text: string): Record<string, unknown> | null {
  const trimmed = text.trim();
  const body = FENCED.exec(trimmed)?.[1]?.trim() ?? trimmed;
  if (!body.startsWith('{') || !body.endsWith('}')) return null;
  try {
    const value = readAnswer(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new RunFailure('provider_bad_response', error.saidOf('the answer'));
  }
}
