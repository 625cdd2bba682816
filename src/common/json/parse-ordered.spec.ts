import fc from 'fast-check';
import type { JsonValue } from './json-value.js';
import { orderedObject } from './ordered-object.js';
import { parseOrdered } from './parse-ordered.js';

describe('parseOrdered', () => {
  it.each([
    '{"2":1,"1":2}',
    '{"b":0,"10":{"2024":[{"9":1,"a":2,"8":3}],"2023":1},"#1":1,"1":2,"0":3}',
    '[{"a":{"4294967295":1,"4294967294":2,"01":3,"-1":4}}]',
    '{"a":"\\"2\\":1,","1":"x"}',
    '{"1":1,"2":2,"a":3}',
  ])('gives %s back as it was', (text) => expect(JSON.stringify(parseOrdered(text))).toBe(text));

  it('sees through spaces, escapes and repeated keys', () => {
    const text = '{ "\\u0032" :\n1, "1"\t: 2, "2": 3 }';
    expect(JSON.stringify(parseOrdered(text))).toBe('{"2":3,"1":2}');
    expect(() => parseOrdered('{"2":1,"1":')).toThrow(SyntaxError);
  });

  it('gives the values of JSON.parse, in the order of the text', () => {
    const key = fc
      .oneof(fc.nat(20).map(String), fc.string({ maxLength: 3 }))
      .filter((one) => one !== '__proto__');
    const { value } = fc.letrec<{ value: JsonValue; text: string }>((tie) => ({
      text: fc.constant(''),
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom<JsonValue>(null, 1.5, 'x', '"1":', '\\'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc
          .uniqueArray(fc.tuple(key, tie('value')), { selector: ([name]) => name, maxLength: 5 })
          .map((entries) => orderedObject(entries)),
      ),
    }));
    fc.assert(
      fc.property(value, (given) => {
        const text = JSON.stringify(given);
        const parsed = parseOrdered(text);
        expect(JSON.stringify(parsed)).toBe(text);
        expect(parsed).toEqual(JSON.parse(text));
      }),
    );
  });
});

describe('orderedObject', () => {
  it('is any object to whoever reads it', () => {
    const object = orderedObject([
      ['2', 'b'],
      ['1', 'a'],
      ['x', 'c'],
    ]);
    expect(Object.keys(object)).toEqual(['2', '1', 'x']);
    expect(Object.entries(object)[0]).toEqual(['2', 'b']);
    expect([object['1'], Object.hasOwn(object, '1'), 'toString' in object]).toEqual(['a', true, true]);
    object['0'] = 'new';
    delete object['2'];
    expect(JSON.stringify(object)).toBe('{"1":"a","x":"c","0":"new"}');
  });
});
