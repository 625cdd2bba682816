import { readFileSync } from 'node:fs';
import path from 'node:path';
import { GRAPH_PROBLEM_CODES, NODE_TYPES } from './graph-data.js';

const page = readFileSync(path.resolve(import.meta.dirname, '../../../docs/workflows.md'), 'utf8');

describe('docs/workflows.md', () => {
  it.each([...GRAPH_PROBLEM_CODES, ...NODE_TYPES])('explains %s', (word) => {
    expect(page).toContain(`\`${word}\``);
  });
});
