import type pg from 'pg';
import {
  integerArray,
  longTextArray,
  textArray,
  type ArrayParameter,
} from '../../database/array-parameter.js';
import { COMMIT_PARTS, PARTS, type ColumnType, type CommitPart } from './commit-parts.js';
import type { Cell, CommitRows, Row } from './commit-rows.js';

/**
 * Rows of each part up to which they are sent as they are, a parameter a cell. More come as an array a column: that
 * costs PostgreSQL a scan of a function for each part, but is one statement for any number.
 */
const FEW: Record<CommitPart, number> = { held: 1, begun: 2, changed: 2, recorded: 4, closed: 1 };

const texts = new Map<string, string>();

/**
 * The whole shared commit as one statement, which is one round trip and one transaction; it gives the ids of the held
 * runs. Parts with nothing to write are left out: an empty one still costs its columns and its set-up. Its name is the
 * connection's, which prepares each shape of a statement once; there are at most a hundred.
 */
export function commitStatement(rows: CommitRows): pg.QueryConfig {
  const parts = COMMIT_PARTS.filter((part) => rows[part].length > 0);
  const areFew = parts.every((part) => rows[part].length <= FEW[part]);
  const name = `journal ${parts.map((part) => (areFew ? `${part} ${rows[part].length}` : part)).join(' ')}`;
  let text = texts.get(name);
  if (text === undefined) {
    text = textOf(parts, areFew ? (part) => rows[part].length : () => null);
    texts.set(name, text);
  }
  const values = areFew
    ? parts.flatMap((part) => rows[part].flat())
    : parts.flatMap((part) => arraysOf(part, rows[part]));
  return { name, text, values };
}

/** `rowsOf`: how many rows a part has, null for arrays of any number. */
function textOf(parts: readonly CommitPart[], rowsOf: (part: CommitPart) => number | null): string {
  let parameters = 0;
  const parameter = (type: string): string => `$${(parameters += 1)}::${type}`;
  const written = parts.map((part) => {
    const { columns, sql } = PARTS[part];
    const types = columns.map(([, type]) => (type === 'payload' ? 'text' : type));
    const names = columns.map(([name]) => name).join(', ');
    const count = rowsOf(part);
    const source =
      count === null
        ? `unnest(${types.map((type) => parameter(`${type}[]`)).join(', ')})`
        : `(VALUES ${Array.from({ length: count }, () => `(${types.map(parameter).join(', ')})`).join(', ')})`;
    return `${part} AS (${sql(`${source} AS given(${names})`)})`;
  });
  return `WITH ${written.join(', ')}\nSELECT run_id FROM held`;
}

function arraysOf(part: CommitPart, rows: readonly Row[]): ArrayParameter[] {
  return PARTS[part].columns.map(([, type], at) =>
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
