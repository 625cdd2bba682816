import { integerArray, longTextArray, textArray } from './array-parameter.js';

describe('array parameters', () => {
  it('quote every text and escape what has a meaning in an array', () => {
    expect(textArray([])).toBe('{}');
    expect(textArray(['a', null, 'NULL', ''])).toBe('{"a",NULL,"NULL",""}');
    expect(textArray(['a"b\\c', '{x,y}'])).toBe('{"a\\"b\\\\c","{x,y}"}');
  });

  it('write integers as they are', () => {
    expect(integerArray([1, null, -2])).toBe('{1,NULL,-2}');
    expect(integerArray([])).toBe('{}');
  });

  it('write long texts with their lengths in bytes', () => {
    const sent = longTextArray(['é', null]);
    if (typeof sent === 'string') throw new Error('it is text');
    expect(sent.toString('hex')).toBe(
      ['00000001', '00000001', '00000019', '00000002', '00000001', '00000002', 'c3a9', 'ffffffff'].join(''),
    );
    expect(longTextArray([])).toBe('{}');
  });
});
