/** Rows as the arrays that `unnest` puts together again: one per column. */
export function columnsOf(rows: readonly unknown[][], width: number): unknown[][] {
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? null));
}

/** For a `json` column; SQL NULL for what is not there. */
export function jsonText(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
