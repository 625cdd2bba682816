import { RE2JS, RE2JSException } from 're2js';
import { LruCache } from '../../common/cache/lru-cache.js';

/** Characters a pattern may have. */
export const MAX_PATTERN_LENGTH = 1_000;
/** Instructions a compiled pattern may have. */
const MAX_PROGRAM_SIZE = 5_000;
/** A search's time is at worst instructions × characters; so many take about half a second of the event loop. */
const MAX_SEARCH_STEPS = 20_000_000;

/** Thrown when a pattern is none, or too large, or when the text is too long to be searched. */
export class PatternError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PatternError';
  }
}

const compiled = new LruCache<string, RE2JS>(500);

/** RE2 syntax: linear time, no look-around and no back references (decision 43). Throws PatternError. */
export function compilePattern(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known) return known;
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new PatternError(`the pattern is longer than ${MAX_PATTERN_LENGTH} characters`);
  }
  try {
    const regex = RE2JS.compile(pattern);
    if (regex.programSize() > MAX_PROGRAM_SIZE) throw new PatternError('the pattern is too large');
    compiled.set(pattern, regex);
    return regex;
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new PatternError(error.message, { cause: error });
  }
}

/** Whether the pattern is found anywhere in the text; `^` and `$` anchor it. Throws PatternError. */
export function searchPattern(pattern: string, text: string): boolean {
  const regex = compilePattern(pattern);
  if (regex.programSize() * text.length > MAX_SEARCH_STEPS) {
    throw new PatternError(`a text of ${text.length} characters is too long for the pattern ${pattern}`);
  }
  return regex.matcher(text).find();
}
