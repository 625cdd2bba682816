const NUMBER = /^(\d{1,40})(?:\.(\d{1,40}))?(?:e([+-]?\d{1,2}))?$/i;

/** Digits on either side of the point at the most. */
const MOST_DIGITS = 40;

/**
 * A price as digits with a point: small ones come as `6.0E-7`, as Python writes them. Null for what is no price, or
 * has more digits than any.
 */
export function plainDecimal(text: string): string | null {
  const [, whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (whole === undefined) return null;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  const before =
    digits
      .slice(0, Math.max(0, point))
      .padEnd(point, '0')
      .replace(/^0+(?=\d)/, '') || '0';
  const after = point < 0 ? digits.padStart(digits.length - point, '0') : digits.slice(point);
  if (before.length > MOST_DIGITS || after.length > MOST_DIGITS) return null;
  return after === '' ? before : `${before}.${after}`;
}
