import { pathAt } from './path-at.js';

describe('pathAt', () => {
  const at = (text: string): string => pathAt(text.replace('^', ''), text.indexOf('^'));

  it.each([
    ['^1', ''],
    ['{"a": ^1}', 'a'],
    ['{"a": {"b": [0, {"c": 1}, ^2]}}', 'a.b.2'],
    ['[[], {"x": 1}, [1, ^2]]', '2.1'],
    ['{"first": [1, 2], "se\\"cond,{": {"三": ^3}}', 'se"cond,{.三'],
    ['{"a": "b\\\\", "c": ^1}', 'c'],
  ])('%s -> %s', (text, path) => {
    expect(at(text)).toBe(path);
  });
});
