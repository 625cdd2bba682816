import fc from 'fast-check';
import { numberProblem } from './json-number.js';
import { parseJson } from './parse-json.js';

const parse = (text: string, maxDepth = 64) => parseJson(text, { maxDepth });

describe('parseJson', () => {
  it('gives what JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('__proto__'));
        fc.pre((text.match(/-?[\d.]+(?:e[+-]?\d+)?/g) ?? []).every((one) => numberProblem(one) === null));
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each(['1234567890123456789', '{"a":[-9007199254740992]}', '[9007199254740993 ]'])(
    'refuses to round the integer in %s',
    (text) => expect(() => parse(text)).toThrow(/2\^53/),
  );

  it.each(['9007199254740991', '"1234567890123456789"', '0.12345678901234567', '{"1234567890123456789":1}'])(
    'keeps %s',
    (text) => expect(parse(text)).toEqual(JSON.parse(text)),
  );

  it('refuses a number beyond a double', () => expect(() => parse('[1e400]')).toThrow(/too large/));

  it('refuses nesting beyond the limit, and takes the limit itself', () => {
    expect(() => parse('['.repeat(65) + ']'.repeat(65))).toThrow(/64 levels/);
    expect(parse('['.repeat(64) + ']'.repeat(64))).toBeDefined();
    expect(() => parse('['.repeat(5_000_000))).toThrow(/64 levels/);
  });

  it.each(['{"__proto__":{"a":1}}', '[{"b":{"\\u005f_proto__":1}}]', '{"__\\u0070roto__":1}'])(
    'refuses %s',
    (text) => expect(() => parse(text)).toThrow(/__proto__/),
  );

  it.each(['', '{', '{"a":', 'nul', '"\\', '01'])('says that %j is not JSON, without repeating it', (text) =>
    expect(() => parse(text)).toThrow(/^the body is not valid JSON/),
  );
});
