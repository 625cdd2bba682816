import { SecretRedactor } from '../../credentials/index.js';
import { soundRequestId, soundUsage } from './sound-answer.js';

const redactor = new SecretRedactor();
redactor.register('credentials.c', 'canary-key-1');

describe('soundRequestId', () => {
  it.each([
    ['an id', 'req-20260101-1', 'req-20260101-1'],
    ['no id', null, null],
    ['an empty one', '', null],
    ['a space', 'a b', null],
    ['other characters', '章', null],
    ['200 characters', 'x'.repeat(200), 'x'.repeat(200)],
    ['201 characters', 'x'.repeat(201), null],
    ['our own secret', 'canary-key-1', null],
    ['our own secret in it', 'req-canary-key-1', null],
  ])('%s', (_what, id, sound) => {
    expect(soundRequestId(id, redactor)).toBe(sound);
  });
});

describe('soundUsage', () => {
  const counts = (promptTokens: number | null) =>
    soundUsage({ promptTokens, completionTokens: 2, totalTokens: null, durationMs: 3 });

  it.each([
    [11, 11],
    [0, 0],
    [1.5, 2],
    [-5, null],
    [Number.NaN, null],
    [Infinity, null],
    [1e300, null],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [2 ** 53, null],
    [null, null],
  ])('a count of %p is %p', (told, sound) => {
    expect(counts(told)).toEqual({
      promptTokens: sound,
      completionTokens: 2,
      totalTokens: null,
      durationMs: 3,
    });
  });

  it.each([
    ['0.0012', 'USD', { amount: '0.0012', currency: 'USD' }],
    ['6.0E-7', 'USD', { amount: '0.00000060', currency: 'USD' }],
    ['-1', 'USD', undefined],
    ['NaN', 'USD', undefined],
    ['1', '$$', undefined],
    ['1', 'x'.repeat(11), undefined],
  ])('a price of %s %s', (amount, currency, cost) => {
    const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2, durationMs: 3 };
    expect(soundUsage({ ...usage, cost: { amount, currency } })).toEqual({
      ...usage,
      ...(cost ? { cost } : {}),
    });
  });

  it('of none is none', () => {
    expect(soundUsage(null)).toBeNull();
  });
});
