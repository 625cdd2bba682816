import { reasonOf } from './reason-of.js';

describe('reasonOf', () => {
  it.each<[unknown, string]>([
    [new Error('no luck'), 'no luck'],
    [
      new AggregateError([
        new Error('refused ::1'),
        new Error('refused 127.0.0.1'),
        new Error('refused ::1'),
      ]),
      'refused ::1; refused 127.0.0.1',
    ],
    [Object.assign(new Error(''), { code: 'ECONNRESET' }), 'ECONNRESET'],
    [new TypeError(''), 'TypeError'],
    [{ name: 'Error', message: 'from elsewhere' }, 'from elsewhere'],
    ['a text', 'a text'],
    [undefined, 'undefined'],
  ])('%#', (error, reason) => expect(reasonOf(error)).toBe(reason));
});
