import { parseJsonOr } from './read-body.js';
import { TransportFault } from './transport-fault.js';

describe('parseJsonOr', () => {
  it('keeps the digits of numbers that a double would change, as text', () => {
    const text = '{"id":1234567890123456789,"e":[9007199254740993e0,9007199254740993.0,1e400],"n":1.5}';
    expect(parseJsonOr(text, null)).toEqual({
      id: '1234567890123456789',
      e: ['9007199254740993e0', '9007199254740993.0', '1e400'],
      n: 1.5,
    });
  });

  it('gives the other value for what is no JSON', () => expect(parseJsonOr('{', 7)).toBe(7));

  it('says what is nested too deep, however deep', () => {
    for (const levels of [121, 100_000]) {
      const deep = '['.repeat(levels) + ']'.repeat(levels);
      expect(() => parseJsonOr(deep, null)).toThrow(
        new TransportFault('malformed', 'what the provider sent is nested deeper than 120 levels'),
      );
    }
  });
});
