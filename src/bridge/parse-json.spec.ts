import { parseJson, UnsafeIntegerError } from './parse-json.js';

describe('parseJson', () => {
  it('is JSON.parse for what a number can hold', () => {
    const text =
      '{"a":[9007199254740991,-9007199254740991,1e20,0.12345678901234567,"12345678901234567890"],"b":null}';
    expect(parseJson(text, 'refuse')).toEqual(JSON.parse(text));
  });
  it('refuses integers that would be rounded, or keeps their digits', () => {
    expect(() => parseJson('[9007199254740993]', 'refuse')).toThrow(UnsafeIntegerError);
    expect(parseJson('[9007199254740993]', 'text')).toEqual(['9007199254740993']);
  });
  it('takes the last of duplicate keys, as JSON.parse does', () => {
    expect(parseJson('{"a":1,"a":12345678901234567890}', 'text')).toEqual({ a: '12345678901234567890' });
  });
  it('throws SyntaxError for what is no JSON', () => {
    expect(() => parseJson('{', 'refuse')).toThrow('JSON');
  });
});
