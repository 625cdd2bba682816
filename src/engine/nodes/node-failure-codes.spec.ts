import { readFileSync } from 'node:fs';
import path from 'node:path';
import { RUNTIME_FAILURE_TYPES } from '../../runtime-adapters/protocol/agent-runtime-response.js';
import { GRAPH_PROBLEM_CODES } from '../../workflows/graph/graph-data.js';
import { NODE_FAILURE_CODES } from './node-failure.js';

const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/node-types.md'), 'utf8');

/** The words in the first column of the page's tables of codes. */
function codesInTables(): string[] {
  const tables = page.match(/^\| code \|.*\n(?:\|.*\n)+/gm) ?? [];
  const limits = page.match(/^\| limit \|.*\n(?:\|.*\n)+/gm) ?? [];
  const lastColumn = limits.flatMap((table) => [...table.matchAll(/`(CODE_[A-Z]+)` \|$/gm)]);
  const rows = tables.flatMap((table) => table.split('\n').slice(2));
  const firstColumn = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)]);
  return [...firstColumn, ...lastColumn].map(([, code]) => code ?? '');
}

describe('docs/node-types.md', () => {
  it.each(NODE_FAILURE_CODES)('explains %s', (code) => {
    expect(page).toContain(`\`${code}\``);
  });

  it('names no code that does not exist', () => {
    const known = new Set<string>([...NODE_FAILURE_CODES, ...RUNTIME_FAILURE_TYPES, ...GRAPH_PROBLEM_CODES]);
    const named = codesInTables();
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((code) => !known.has(code))).toEqual([]);
  });
});
