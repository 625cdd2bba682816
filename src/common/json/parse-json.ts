import { ValidationError } from '../errors/domain-error.js';
import type { JsonValue } from './json-value.js';
import { pathAt } from './path-at.js';

/** What a JSON text from outside may look like. */
export interface JsonLimits {
  /** Deepest nesting of arrays and objects. */
  maxDepth: number;
}

/**
 * Parses JSON from outside. Throws a ValidationError for what `JSON.parse` would refuse, and for what it would
 * take but change or that is dangerous: integers outside ±(2^53−1) (decision 4), numbers beyond a double,
 * nesting beyond `maxDepth`, and the key `__proto__`. One pass over the text, no recursion.
 */
export function parseJson(text: string, { maxDepth }: JsonLimits): JsonValue {
  checkDepthAndNumbers(text, maxDepth);
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    throw new ValidationError(`the body is not valid JSON${position(why)}`);
  }
  if (/__proto__|\\u00[57]/i.test(text)) refuseProto(value);
  return value;
}

/** Only the position is told: V8's message repeats the text, which may hold a secret. */
function position(message: string): string {
  const match = /position (\d+)/.exec(message);
  return match ? ` (at character ${match[1]})` : '';
}

const QUOTE = 34;
const BACKSLASH = 92;

function checkDepthAndNumbers(text: string, maxDepth: number): void {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = endOfString(text, at + 1);
    } else if (char === 91 || char === 123) {
      depth += 1;
      if (depth > maxDepth) throw new ValidationError(`the JSON is nested deeper than ${maxDepth} levels`);
    } else if (char === 93 || char === 125) {
      depth -= 1;
    } else if (char >= 48 && char <= 57) {
      const end = endOfNumber(text, at);
      // Below 16 characters no integer passes 2^53 and only an exponent can leave the range.
      if (end - at >= 16 || /[eE]/.test(text.slice(at, end))) checkNumber(text, at, end);
      at = end - 1;
    }
  }
}

function endOfString(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) {
    at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  }
  return at;
}

function endOfNumber(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    const part = (char >= 48 && char <= 57) || char === 46 || char === 69 || char === 101;
    const sign = (char === 43 || char === 45) && /[eE]/.test(text.charAt(at - 1));
    if (!part && !sign) break;
  }
  return at;
}

function checkNumber(text: string, at: number, end: number): void {
  const literal = text.slice(at, end);
  const value = Number(literal);
  const shown = literal.length > 40 ? `${literal.slice(0, 40)}…` : literal;
  const refuse = (message: string): never => {
    throw ValidationError.ofFields([{ field: pathAt(text, at), message }]);
  };
  if (value === Infinity) refuse(`the number ${shown} is too large`);
  if (/^\d+$/.test(literal) && !Number.isSafeInteger(value)) {
    refuse(`the integer ${shown} is outside ±(2^53−1) and would be rounded; send it as a string`);
  }
}

function refuseProto(root: JsonValue): void {
  const pending: JsonValue[] = [root];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) {
      throw new ValidationError('the key __proto__ is not allowed');
    }
    for (const inner of Object.values(value)) pending.push(inner);
  }
}
