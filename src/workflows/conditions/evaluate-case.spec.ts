import { chooseCase, evaluateCase, type Condition } from './evaluate-case.js';
import { PatternError } from './search-pattern.js';

const scope = { a: { n: 3, text: 'abc', list: ['x'] }, limit: { n: 3, pattern: '^a' }, skipped: null };
const yes: Condition = { variable: 'a.n', operator: 'equals', value: 3 };
const no: Condition = { variable: 'a.n', operator: 'equals', value: 4 };

describe('evaluateCase', () => {
  it.each<['and' | 'or' | undefined, Condition[], boolean]>([
    ['and', [yes, yes], true],
    ['and', [yes, no], false],
    ['or', [no, yes], true],
    ['or', [no, no], false],
    [undefined, [yes, no], false],
  ])('%s of %j: %s', (logic, conditions, expected) => {
    expect(evaluateCase({ id: 'c', logic, conditions }, scope)).toBe(expected);
  });

  it.each<[Condition, boolean]>([
    [{ variable: 'a.n', operator: 'equals', value: '{{ limit.n }}' }, true],
    [{ variable: 'a.n', operator: 'equals', value: ' {{ limit.n }}' }, false],
    [{ variable: 'a.n', operator: 'in', value: [1, '{{ limit.n }}'] }, true],
    [{ variable: 'a.text', operator: 'matches', value: '^a' }, true],
    [{ variable: 'a.text', operator: 'matches', value: '{{ limit.pattern }}' }, false],
    [{ variable: 'a.missing', operator: 'equals', value: null }, true],
    [{ variable: 'skipped.n', operator: 'isEmpty' }, true],
    [{ variable: 'a.missing', operator: 'notEquals', value: 1 }, true],
    [{ variable: 'a', operator: 'contains', value: 'text' }, true],
  ])('%j: %s', (condition, expected) => {
    expect(evaluateCase({ id: 'c', conditions: [condition] }, scope)).toBe(expected);
  });

  it('matches in linear time, refuses what would take long, and says when a pattern is none', () => {
    const matches = (value: string, text: string) =>
      evaluateCase(
        { id: 'c', conditions: [{ variable: 'a.t', operator: 'matches', value }] },
        { a: { t: text } },
      );
    expect(matches('^(a+)+$', `${'a'.repeat(50_000)}b`)).toBe(false);
    expect(() => matches('(?:(?:a|b|[c-z]){1,50}){1,10}$', 'abc'.repeat(100_000))).toThrow(PatternError);
    expect(() => matches('(a', 'a')).toThrow(PatternError);
    expect(() => matches('(?=a)', 'a')).toThrow(PatternError);
    expect(() => matches('a'.repeat(1001), 'a')).toThrow(PatternError);
  });
});

describe('chooseCase', () => {
  it('takes the first case that holds, else `else`', () => {
    const cases = [
      { id: 'one', conditions: [no] },
      { id: 'two', conditions: [yes] },
      { id: 'three', conditions: [yes] },
    ];
    expect(chooseCase(cases, scope)).toBe('two');
    expect(chooseCase(cases.slice(0, 1), scope)).toBe('else');
  });
});
