import { cutLongString, cutLongStrings, MAX_STRING_BYTES } from './cut-long-strings.js';

describe('a string', () => {
  test.each(['a', '字', '😀'])('of %s is kept to the last byte that is allowed', (char) => {
    const fits = char.repeat(Math.floor(MAX_STRING_BYTES / Buffer.byteLength(char)));
    expect(cutLongString(fits)).toBe(fits);
    expect(cutLongString(`${fits}${char}`)).toBe(fits);
  });

  test('is cut between characters, never within one', () => {
    const cut = cutLongString(`a${'😀'.repeat(MAX_STRING_BYTES)}`);
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(MAX_STRING_BYTES);
    expect(Buffer.byteLength(cut)).toBeGreaterThan(MAX_STRING_BYTES - 4);
    expect(cut.endsWith('😀')).toBe(true);
  });

  test('keeps a lone surrogate and NUL', () => {
    expect(cutLongString('a\ud800\u0000b')).toBe('a\ud800\u0000b');
  });
});

describe('a value', () => {
  const long = 'x'.repeat(MAX_STRING_BYTES + 1);
  const cut = 'x'.repeat(MAX_STRING_BYTES);

  test('has every long string cut, however deep', () => {
    expect(cutLongStrings({ a: [{ b: long }, 1, null], c: 'short' })).toEqual({
      value: { a: [{ b: cut }, 1, null], c: 'short' },
      truncated: true,
    });
    expect(cutLongStrings(long)).toEqual({ value: cut, truncated: true });
  });

  test('without long strings stays what it is', () => {
    for (const value of [null, 7, true, 'text', { a: ['b'] }]) {
      expect(cutLongStrings(value)).toEqual({ value, truncated: false });
    }
  });

  test('keeps the order of keys, `__proto__` included', () => {
    const value = JSON.parse(`{"b":"${long}","__proto__":"${long}","a":1}`) as Record<string, string>;
    expect(JSON.stringify(cutLongStrings(value).value)).toBe(`{"b":"${cut}","__proto__":"${cut}","a":1}`);
  });

  test('may be nested deeper than calls may', () => {
    let value: unknown[] = [];
    for (let depth = 0; depth < 100_000; depth += 1) value = [value];
    expect(cutLongStrings(value as never).truncated).toBe(false);
  });
});
