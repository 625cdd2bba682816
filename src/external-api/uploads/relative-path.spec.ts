import path from 'node:path';
import fc from 'fast-check';
import { normalizeRelativePath } from './relative-path.js';

describe('normalizeRelativePath', () => {
  it('gives a path below the workspace or throws, whatever it is given', () => {
    const component = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '',
        '...',
        ' ',
        'C:',
        '~',
        '\\',
        '%2e%2e',
        '\u0000',
        '．．',
        'a'.repeat(256),
      ),
      fc.string({ unit: 'binary', maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(component, { maxLength: 8 }), (components) => {
        let normalized: string;
        try {
          normalized = normalizeRelativePath(components.join('/'));
        } catch {
          return;
        }
        const target = path.resolve('/workspace', normalized);
        expect(target.startsWith('/workspace/')).toBe(true);
        expect(path.relative('/workspace', target)).toBe(normalized);
        expect(normalizeRelativePath(normalized)).toBe(normalized);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['a.txt', 'a.txt'],
    ['./a//b/./c', 'a/b/c'],
    ['资料/报告.md', '资料/报告.md'],
    ['a/...', 'a/...'],
    ['e\u0301', 'e\u0301'],
    ['一'.repeat(85), '一'.repeat(85)],
  ])('takes %j', (raw, normalized) => expect(normalizeRelativePath(raw)).toBe(normalized));

  it.each([
    '',
    '.',
    './',
    '/',
    '/a',
    'a/',
    '..',
    'a/..',
    'a/../b',
    'C:\\a',
    'c:a',
    'a\\b',
    'a\u0000',
    'a\nb',
    'a\u0085',
    '\ud800',
    '\ufffd',
    '一'.repeat(86),
    'a/'.repeat(2000) + 'a',
  ])('refuses %j', (raw) => expect(() => normalizeRelativePath(raw)).toThrow(/^files: the path/));
});
