import { resolvePath } from './resolve-path.js';

const scope = {
  a: { text: 'x', 'b.c': 1, b: { c: 2, d: { e: [10, { f: 11 }] } }, list: ['p'], '': 5 },
  none: null,
  index: 3,
};

describe('resolvePath', () => {
  it.each([
    ['a.text', 'x'],
    ['a.b.c', 1],
    ['a.b.d.e.1.f', 11],
    ['a.list.0', 'p'],
    ['a.list.00', undefined],
    ['a.list.length', undefined],
    ['a.text.length', undefined],
    ['a.constructor', undefined],
    ['a.__proto__', undefined],
    ['a.missing.x', undefined],
    ['none.x', undefined],
    ['none', null],
    ['index', 3],
    ['nobody', undefined],
    ['toString', undefined],
    ['', undefined],
    ['.a', undefined],
    ['a.', undefined],
    ['{{ a.text }}', undefined],
  ])('%s: %j', (path, expected) => {
    expect(resolvePath(scope, path)).toEqual(expected);
  });
});
