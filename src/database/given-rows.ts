import { integerArray, longTextArray, textArray, type ArrayParameter } from './array-parameter.js';

/** As PostgreSQL knows it; `payload` is text that may be long. */
export type ColumnType = 'text' | 'integer' | 'bigint' | 'uuid' | 'timestamptz' | 'payload';
export type Column = readonly [name: string, type: ColumnType];
export type Cell = string | number | null;
/** The cells of a row, in the order of its columns. */
export type Row = readonly Cell[];

/**
 * Rows that a statement is given, as an item of its FROM clause named `given`. A known `count` of rows is sent as it is,
 * a parameter a cell; null: any number of rows, an array a column. The arrays are one statement for all, but cost
 * PostgreSQL the scan of a function, which is more than what it does with a row or two.
 */
export function givenRows(columns: readonly Column[], count: number | null, firstParameter: number): string {
  let next = firstParameter;
  const parameter = (type: string): string => {
    const text = `$${next}::${type}`;
    next += 1;
    return text;
  };
  const types = columns.map(([, type]) => (type === 'payload' ? 'text' : type));
  const names = columns.map(([name]) => name).join(', ');
  if (count === null) {
    return `unnest(${types.map((type) => parameter(`${type}[]`)).join(', ')}) AS given(${names})`;
  }
  const rows = Array.from({ length: count }, () => `(${types.map(parameter).join(', ')})`);
  return `(VALUES ${rows.join(', ')}) AS given(${names})`;
}

/** The parameters of `givenRows` where it was given null. */
export function columnArrays(columns: readonly Column[], rows: readonly Row[]): ArrayParameter[] {
  return columns.map(([, type], at) =>
    arrayOf(
      type,
      rows.map((row) => row[at] ?? null),
    ),
  );
}

function arrayOf(type: ColumnType, cells: readonly Cell[]): ArrayParameter {
  if (type === 'integer') return integerArray(cells as readonly (number | null)[]);
  const texts = cells as readonly (string | null)[];
  return type === 'payload' ? longTextArray(texts) : textArray(texts);
}
