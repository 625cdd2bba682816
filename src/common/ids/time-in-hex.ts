const DIGITS = 12;

/** Milliseconds since 1970 as 12 hex digits, which sort as the times do. */
export function timeInHex(): string {
  return Date.now().toString(16).padStart(DIGITS, '0');
}
