import type pg from 'pg';
import { columnArrays, givenRows } from '../../database/given-rows.js';
import { COMMIT_PARTS, PARTS, type CommitPart } from './commit-parts.js';
import type { CommitRows } from './commit-rows.js';

/** Rows of each part up to which they are sent as they are (see givenRows). */
const FEW: Record<CommitPart, number> = { held: 1, begun: 2, changed: 2, recorded: 4, runs: 1 };

/** Where the rows are few, they are all of one run. */
const ONE_IS_HELD = 'EXISTS (SELECT FROM held)';
/**
 * `IS TRUE` keeps PostgreSQL from making a join of the question: joined, a commit of n runs compares n² ids, hashed it
 * asks n times.
 */
const EACH_IS_HELD = '(given.run_id IN (SELECT run_id FROM held)) IS TRUE';

const texts = new Map<string, string>();

/**
 * The whole shared commit as one statement, which is one round trip and one transaction; it gives the ids of the held
 * runs. Parts with nothing to write are left out: an empty one still costs its columns and its set-up. Its name is the
 * connection's, which prepares each shape of a statement once; there are about a hundred at the most.
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
    : parts.flatMap((part) => columnArrays(PARTS[part].columns, rows[part]));
  return { name, text, values };
}

/** `rowsOf`: how many rows a part has, null for arrays of any number. */
function textOf(parts: readonly CommitPart[], rowsOf: (part: CommitPart) => number | null): string {
  let parameter = 1;
  const written = parts.map((part) => {
    const { columns, sql } = PARTS[part];
    const count = rowsOf(part);
    const given = givenRows(columns, count, parameter);
    parameter += columns.length * (count ?? 1);
    return `${part} AS (${sql(given, count === null ? EACH_IS_HELD : ONE_IS_HELD)})`;
  });
  return `WITH ${written.join(', ')}\nSELECT run_id FROM held`;
}
