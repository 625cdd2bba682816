/** The number grammar of RFC 8259; anything else is for `JSON.parse` to refuse. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** From here on JavaScript writes numbers with an exponent. */
const FIRST_WITH_EXPONENT = 1e21;
const MAX_SHOWN = 40;

/**
 * Why a number, as a JSON text writes it, would not be the same any more once it has been a JavaScript number, or null
 * where it would (decision 4): too large or too small for a double, or an integer outside ±(2^53−1) in any notation
 * (`9007199254740993`, `9007199254740993.0`, `9007199254740993e0`). An integer of more than 21 digits may be written
 * with an exponent where a double gives exactly that back, as physical constants are (`6.02214076e23`). Fractions are
 * as exact as a double is.
 */
export function numberProblem(literal: string): string | null {
  // Shorter ones can only leave the range by their exponent.
  if (literal.length < 16 && !/[eE]/.test(literal)) return null;
  if (!NUMBER.test(literal)) return null;
  const value = Number(literal);
  if (!Number.isFinite(value)) return `the number ${shown(literal)} is too large`;
  if (value === 0)
    return /^[-0.]*(?:[eE]|$)/.test(literal) ? null : `the number ${shown(literal)} is too small`;
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return null;
  const comesBack =
    Math.abs(value) >= FIRST_WITH_EXPONENT &&
    !/^-?\d+$/.test(literal) &&
    decimalOf(literal) === decimalOf(String(value));
  if (comesBack) return null;
  return `the integer ${shown(literal)} is outside ±(2^53−1) and would be rounded; send it as a string`;
}

/** One text for every notation of the same decimal: its digits without zeros at the ends, and their exponent. */
function decimalOf(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

function shown(literal: string): string {
  return literal.length > MAX_SHOWN ? `${literal.slice(0, MAX_SHOWN)}…` : literal;
}
