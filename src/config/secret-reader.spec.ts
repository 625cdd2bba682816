import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SecretReader } from './secret-reader.js';

describe('SecretReader', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'secret-'));
  const file = path.join(directory, 'key');
  const reader = new SecretReader({ SET: 'from-env', EMPTY: '' });
  afterAll(() => rmSync(directory, { recursive: true }));

  it('reads literals, variables and files', () => {
    writeFileSync(file, 'from-file\r\n');
    expect(reader.read({ literal: 'as it is' }, 'k')).toBe('as it is');
    expect(reader.read({ env: 'SET' }, 'k')).toBe('from-env');
    expect(reader.read({ file }, 'k')).toBe('from-file');
  });

  it('reads a file again when it has changed, and fails when it is gone', () => {
    writeFileSync(file, 'first');
    expect(reader.read({ file }, 'k')).toBe('first');
    writeFileSync(file, 'second one');
    expect(reader.read({ file }, 'k')).toBe('second one');
    rmSync(file);
    expect(() => reader.read({ file }, 'k')).toThrow(`k: the file ${file} cannot be read`);
  });

  it.each([
    [{ env: 'EMPTY' }, 'k: the environment variable EMPTY is not set'],
    [{}, 'k: needs exactly one source'],
    [{ env: 'SET', literal: 'x' }, 'k: needs exactly one source'],
  ])('refuses %p, naming the key', (source, message) => {
    expect(() => reader.read(source, 'k')).toThrow(message);
  });

  it('tells who watches what it has read and reads', () => {
    const watched = new SecretReader({ A: 'value-a' });
    const seen: string[][] = [];
    watched.read({ literal: 'early' }, 'first');
    watched.observe((key, value) => seen.push([key, value]));
    watched.read({ env: 'A' }, 'second');
    expect(seen).toEqual([
      ['first', 'early'],
      ['second', 'value-a'],
    ]);
  });
});
