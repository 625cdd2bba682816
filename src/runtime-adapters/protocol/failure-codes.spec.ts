import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { RUNTIME_FAILURE_TYPES } from './agent-runtime-response.js';

const sources = path.resolve(import.meta.dirname, '..');
const page = readFileSync(path.resolve(sources, '../../docs/agent-runtimes.md'), 'utf8');

/** Where an adapter writes a code of its own: `{ code: '…' }`, or the last argument of what makes a failure. */
const WRITTEN = [
  /\bcode: '([a-z][a-z_]*)'/g,
  /\b(?:failedEnd|unknownOutcome|unavailable)\((?:[^()]|\([^()]*\))*?'([a-z][a-z_]*)',?\s*\)/g,
  /\?\? '([a-z]+_[a-z_]+)'/g,
  /\? '([a-z]+_[a-z_]+)' : '[a-z_]+'\)/g,
  /\? '[a-z]+_[a-z_]+' : '([a-z_]+)'\)/g,
];

function codesInSources(): string[] {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' });
  const codes = files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .flatMap((file) => {
      const text = readFileSync(path.join(sources, file), 'utf8');
      return WRITTEN.flatMap((pattern) => [...text.matchAll(pattern)].map(([, code]) => code ?? ''));
    });
  const credential = ['unknown', 'wrong_provider', 'out_of_scope', 'no_value', 'no_base_url'];
  return [...new Set([...codes, ...credential.map((reason) => `credential_${reason}`)])].sort();
}

describe('docs/bridge.md', () => {
  it('names every code of the bridge that is no failure type', () => {
    const bridge = path.resolve(sources, '../bridge');
    const codes = readdirSync(bridge, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
      .map((file) => readFileSync(path.join(bridge, file), 'utf8'))
      .flatMap((text) => [...text.matchAll(/(?:RunFailure\(\s*|refuse\(response, \d+, )'([a-z0-9_]+)'/g)])
      .map(([, code = '']) => code);
    const own = codes.filter((code) => !RUNTIME_FAILURE_TYPES.some((type) => type === code));
    expect(codes.length).toBeGreaterThan(20);
    const told = readFileSync(path.resolve(sources, '../../docs/bridge.md'), 'utf8');
    expect([...new Set(own)].filter((code) => !told.includes(`\`${code}\``))).toEqual([]);
  });
});

describe('docs/agent-runtimes.md', () => {
  const [, types = '', codes = ''] =
    /## How failures map\n([\s\S]*?)\nBeside the type([\s\S]*?)\n`status`/.exec(page) ?? [];
  const firstColumns = (table: string): string[] =>
    table
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .flatMap((line) =>
        [...(line.split('|')[1] ?? '').matchAll(/`([a-z0-9_]+)`/g)].map(([, word]) => word ?? ''),
      )
      .sort();

  it('lists every failure type and no other', () => {
    expect(firstColumns(types)).toEqual([...RUNTIME_FAILURE_TYPES].sort());
  });

  it('lists every code of ours and no other', () => {
    expect(firstColumns(codes)).toEqual(codesInSources());
  });
});
