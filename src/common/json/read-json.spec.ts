import fc from 'fast-check';
import { numberProblem } from './json-number.js';
import { JsonTextError, readJson, type JsonRules } from './read-json.js';

const read = (text: string, unsafeNumbers: JsonRules['unsafeNumbers'], maxDepth = 100) =>
  readJson(text, { maxDepth, unsafeNumbers });

function refusal(text: string, unsafeNumbers: JsonRules['unsafeNumbers'] = 'refuse'): JsonTextError {
  try {
    read(text, unsafeNumbers);
  } catch (error) {
    if (error instanceof JsonTextError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('readJson', () => {
  it('names the number at fault by its path', () => {
    expect(refusal('{"a":{"b":[0,{"c":-9007199254740993.0}]}}')).toMatchObject({
      kind: 'number',
      path: 'a.b.1.c',
      message: expect.stringMatching(/^a\.b\.1\.c: the integer -9007199254740993\.0 is outside/) as string,
    });
    expect(refusal('{"x":1e400}').message).toBe('x: the number 1e400 is too large');
  });

  it.each<[string, unknown]>([
    [
      '[9007199254740991,9007199254740992,-9007199254740993]',
      [2 ** 53 - 1, '9007199254740992', '-9007199254740993'],
    ],
    ['{"a":"9007199254740993 \\"9007199254740993"}', { a: '9007199254740993 "9007199254740993' }],
    ['{"9007199254740993":1}', { '9007199254740993': 1 }],
    ['[1e400,-1e400 , 9007199254740993e0]', ['1e400', '-1e400', '9007199254740993e0']],
    ['{"a\\\\":9007199254740993}', { 'a\\': '9007199254740993' }],
    ['9007199254740993', '9007199254740993'],
  ])('keeps the digits of %s as text where it is told to', (text, expected) => {
    expect(read(text, 'text')).toEqual(expected);
  });

  it.each([
    '[00000000000000000001]',
    '[9007199254740993x]',
    '[9007199254740993.]',
    '[--9007199254740993]',
    '{',
  ])('makes no JSON of %s', (text) => expect(refusal(text, 'text').kind).toBe('syntax'));

  it('refuses nesting beyond the limit, however deep', () => {
    const deep = (levels: number): string => '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2);
    expect(read(deep(100), 'text')).toBeDefined();
    for (const levels of [102, 1_000_000]) {
      const error = refusal(deep(levels), 'text');
      expect([error.kind, error.message]).toEqual(['depth', 'is nested deeper than 100 levels']);
    }
  });

  it('refuses the key __proto__', () => expect(refusal('[{"__proto__":{}}]', 'text').kind).toBe('key'));

  it('keeps every number exactly, or its digits, or refuses it naming its path', () => {
    const digits = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String);
    const exponent = fc.tuple(digits, fc.integer({ min: -330, max: 330 })).map(([one, e]) => `${one}e${e}`);
    const number = fc.oneof(
      digits,
      exponent,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => JSON.stringify(one)),
    );
    const key = fc.string().filter((one) => one !== '__proto__');
    fc.assert(
      fc.property(fc.array(fc.tuple(key, number), { maxLength: 5 }), number, (members, last) => {
        const inner = members.map(([name, literal]) => `${JSON.stringify(name)} : ${literal}`).join(' , ');
        const text = `{"list":[{${inner}},"${last}",${last}]}`;
        const all = [...members.map(([, literal]) => literal), last];
        const bad = all.find((literal) => numberProblem(literal) !== null);
        if (bad === undefined) expect(read(text, 'refuse')).toEqual(JSON.parse(text));
        else expect(refusal(text).path).toMatch(/^list\./);
        const kept = read(text, 'text') as { list: [Record<string, unknown>, string, unknown] };
        for (const [name, literal] of new Map(members)) {
          const expected = numberProblem(literal) === null ? Number(literal) : literal;
          expect(Object.getOwnPropertyDescriptor(kept.list[0], name)?.value).toBe(expected);
        }
        expect(kept.list[1]).toBe(last);
        expect(kept.list[2]).toBe(numberProblem(last) === null ? Number(last) : last);
      }),
      { numRuns: 500 },
    );
  });
});
