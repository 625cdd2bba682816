import { ContextQueryError } from './context-query-error.js';
import { pickField } from './pick-field.js';

const data = { result: 'hello', 'a.b': 1, a: { b: 2, c: null }, list: [{ x: 'y' }], empty: '' };

test.each([
  ['result', 'hello'],
  ['a.b', 1],
  ['a.c', null],
  ['a', { b: 2, c: null }],
  ['list.0.x', 'y'],
  ['empty', ''],
])('%s is an exact key first, then a dotted path', (field, value) => {
  expect(pickField(data, field)).toEqual(value);
});

test.each([
  'nope',
  'a.d',
  'result.length',
  'list.length',
  'list.7',
  'list.-1',
  '__proto__',
  'constructor',
  'a.b.c',
  'a.',
])('%s is not there, and the answer says what is', (field) => {
  let thrown: unknown;
  try {
    pickField(data, field);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(ContextQueryError);
  expect(thrown).toMatchObject({ code: 404 });
  expect((thrown as Error).message).toContain('result, a.b, a, list, empty');
});

test('an answer names at most so many keys', () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`key${at}`.repeat(20), at]));
  expect(() => pickField(many, 'nope')).toThrow(/^.{1,5000}…$/);
  expect(() => pickField({}, 'nope')).toThrow(/has none/);
  for (const padding of ['', 'x']) {
    const wide = { [`${padding}${'😀'.repeat(5_000)}`]: 1 };
    expect(() => pickField(wide, 'nope')).toThrow(/😀, …$/);
  }
});
