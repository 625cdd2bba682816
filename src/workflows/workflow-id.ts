/** The largest value of PostgreSQL's bigint. */
const MAX_ID = 9_223_372_036_854_775_807n;

/** Decimal digits that fit a bigint, without leading zeros; null otherwise. Never goes through a float. */
export function workflowIdOf(text: string): string | null {
  if (!/^\d{1,19}$/.test(text)) return null;
  const id = BigInt(text);
  return id >= 1n && id <= MAX_ID ? id.toString() : null;
}
