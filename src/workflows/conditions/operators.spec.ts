import fc from 'fast-check';
import type { JsonValue } from '../../common/json/json-value.js';
import { jsonEquals } from './json-equals.js';
import { OPERATORS, holds, type Operator } from './operators.js';

const json = fc.jsonValue() as fc.Arbitrary<JsonValue>;

describe('holds', () => {
  it.each<[Operator, JsonValue, JsonValue, boolean]>([
    ['equals', 1, 1, true],
    ['equals', 1, '1', false],
    ['equals', true, 'true', false],
    ['equals', 0, false, false],
    ['equals', null, '', false],
    ['equals', { a: 1, b: [2] }, { b: [2], a: 1 }, true],
    ['equals', [1, 2], [2, 1], false],
    ['equals', [], {}, false],
    ['notEquals', 1, '1', true],
    ['contains', '量子计算', '子计', true],
    ['contains', 'abc', '', true],
    ['contains', '123', 2, false],
    ['contains', [1, { a: 1 }], { a: 1 }, true],
    ['contains', ['1'], 1, false],
    ['contains', { key: 0 }, 'key', true],
    ['contains', {}, 'constructor', false],
    ['contains', null, 'x', false],
    ['notContains', null, 'x', true],
    ['startsWith', 'abc', 'ab', true],
    ['startsWith', ['a'], 'a', false],
    ['endsWith', 'abc', 'bc', true],
    ['endsWith', 123, '3', false],
    ['greaterThan', 2, 1, true],
    ['greaterThan', 1, 1, false],
    ['greaterThan', '2', 1, false],
    ['greaterThan', 10, '9', false],
    ['greaterThan', '10', '9', false],
    ['greaterThan', 'b', 'a', true],
    ['greaterThan', true, false, false],
    ['greaterThan', null, -1, false],
    ['greaterOrEqual', 1, 1, true],
    ['greaterOrEqual', null, null, false],
    ['greaterOrEqual', [1], [1], false],
    ['lessThan', 1, 2, true],
    ['lessThan', null, 1, false],
    ['lessOrEqual', 'a', 'a', true],
    ['in', 'a', ['a', 'b'], true],
    ['in', 1, ['1'], false],
    ['in', 'a', 'abc', false],
    ['in', null, [null], true],
    ['notIn', 'c', ['a', 'b'], true],
    ['isEmpty', null, null, true],
    ['isEmpty', '', null, true],
    ['isEmpty', [], null, true],
    ['isEmpty', {}, null, true],
    ['isEmpty', 0, null, false],
    ['isEmpty', false, null, false],
    ['isEmpty', ' ', null, false],
    ['isNotEmpty', 0, null, true],
    ['isNotEmpty', [], null, false],
    ['matches', 'report-12', '\\d+$', true],
    ['matches', 'report', '^port', false],
    ['matches', '量子', '^\\p{Han}+$', true],
    ['matches', 12, '12', false],
  ])('%s %j %j is %s', (operator, left, right, expected) => {
    expect(holds(operator, left, right)).toBe(expected);
  });

  it('is total but for patterns, and each negation is the opposite', () => {
    const others = OPERATORS.filter((operator) => operator !== 'matches');
    fc.assert(
      fc.property(json, json, (left, right) => {
        for (const operator of others) expect(typeof holds(operator, left, right)).toBe('boolean');
        expect(holds('notEquals', left, right)).toBe(!holds('equals', left, right));
        expect(holds('notContains', left, right)).toBe(!holds('contains', left, right));
        expect(holds('notIn', left, right)).toBe(!holds('in', left, right));
        expect(holds('isNotEmpty', left, right)).toBe(!holds('isEmpty', left, right));
      }),
    );
  });

  it('orders values of one type totally and values of two not at all', () => {
    const scalar = fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.string());
    fc.assert(
      fc.property(scalar, scalar, (a, b) => {
        const order = (['lessThan', 'greaterThan', 'equals'] as const).filter((one) => holds(one, a, b));
        expect(order).toHaveLength(typeof a === typeof b ? 1 : 0);
        expect(holds('greaterOrEqual', a, b)).toBe(typeof a === typeof b && !order.includes('lessThan'));
        expect(holds('lessOrEqual', a, b)).toBe(typeof a === typeof b && !order.includes('greaterThan'));
      }),
    );
  });
});

describe('jsonEquals', () => {
  it('is an equivalence that a copy with its keys in another order does not break', () => {
    const reordered = (value: JsonValue): JsonValue => {
      if (Array.isArray(value)) return value.map(reordered);
      if (value === null || typeof value !== 'object') return value;
      return Object.fromEntries(
        Object.entries(value)
          .map(([key, one]) => [key, reordered(one)] as const)
          .reverse(),
      );
    };
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(jsonEquals(a, reordered(a))).toBe(true);
        expect(jsonEquals(a, b)).toBe(jsonEquals(b, a));
      }),
    );
  });
});
