import { isLosslessNumber, parse } from 'lossless-json';

/** Thrown when JSON holds an integer that a JavaScript number would round. */
export class UnsafeIntegerError extends Error {
  constructor(digits: string) {
    super(`the integer ${digits.slice(0, 40)} is beyond ±(2^53-1) and would be rounded`);
    this.name = 'UnsafeIntegerError';
  }
}

/**
 * JSON.parse that rounds no integer: one beyond ±(2^53-1) is refused, or becomes a string of its digits.
 * Throws SyntaxError for what is no JSON.
 */
export function parseJson(text: string, unsafeIntegers: 'refuse' | 'text'): unknown {
  const value: unknown = JSON.parse(text);
  // Only a literal of 16 digits can be unsafe; almost no text has one, and the careful parser is slow.
  if (!/\d{16}/.test(text)) return value;
  const reviver = (_key: string, item: unknown): unknown => {
    if (!isLosslessNumber(item)) return item;
    const digits = item.value;
    const number = Number(digits);
    if (!/^-?\d+$/.test(digits) || Number.isSafeInteger(number)) return number;
    if (unsafeIntegers === 'refuse') throw new UnsafeIntegerError(digits);
    return digits;
  };
  return parse(text, reviver, { onDuplicateKey: ({ newValue }) => newValue });
}
