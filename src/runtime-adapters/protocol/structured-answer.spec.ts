import { RuntimeFault } from './failure-classification.js';
import { orFailed, structuredAnswer } from './structured-answer.js';

const contract = { type: 'json' } as const;

describe('structuredAnswer', () => {
  it.each([
    ['{"id":1234567890123456789}', { id: '1234567890123456789' }],
    ['```json\n{"n":[1e400,-9007199254740993.0,0.5]}\n```', { n: ['1e400', '-9007199254740993.0', 0.5] }],
    ['{"n":1', null],
    ['[1]', null],
  ])('reads %j', (text, expected) => expect(structuredAnswer(text, contract)).toEqual(expected));

  it('fails the call for an answer that is nested too deep', () => {
    const deep = `{"a":${'['.repeat(100)}${']'.repeat(100)}}`;
    expect(() => structuredAnswer(deep, contract)).toThrow(RuntimeFault);
    expect(orFailed(() => structuredAnswer(deep, contract))).toMatchObject({
      kind: 'failed',
      failure: { type: 'provider_bad_response', message: 'the answer is nested deeper than 100 levels' },
    });
  });
});
