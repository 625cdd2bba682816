import fc from 'fast-check';
import { capField, cutText, FIELD_BYTES } from './cap-field.js';

describe('capField', () => {
  it('leaves what fits as it is', () => {
    const value = { a: ['x', 1, null, true], b: { c: '汉' } };
    expect(capField(value)).toEqual({
      value,
      truncated: false,
      bytes: Buffer.byteLength(JSON.stringify(value)),
    });
    expect(capField('x'.repeat(FIELD_BYTES))).toMatchObject({ truncated: false, bytes: FIELD_BYTES });
    expect(capField(undefined)).toMatchObject({ value: null, truncated: false });
  });

  it('cuts texts at a character and lists after the last item that fits', () => {
    expect(capField('汉汉汉', 7)).toEqual({ value: '汉汉', truncated: true, bytes: 6 });
    expect(capField(['aaaa', 'bbbb', 'cccc'], 13)).toMatchObject({ value: ['aaaa', 'bb'], truncated: true });
    expect(capField({ a: 'xxxx', b: 'yyyy' }, 14)).toMatchObject({ value: { a: 'xxxx' }, truncated: true });
  });

  it('drops what lies too deep, without overflowing the stack', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 5000; level += 1) deep = [deep];
    expect(capField(deep).truncated).toBe(true);
  });

  it.each([
    ['empty lists', []],
    ['empty objects', {}],
    ['empty texts', ''],
    ['empty keys', { '': '' }],
    ['long numbers', -1.25e-300],
    ['nothing', null],
  ])('lets no list of %s be longer than the limit', (_what, item) => {
    for (const value of [Array(100_000).fill(item), { a: Array(100_000).fill(item) }]) {
      const { value: capped, truncated, bytes } = capField(value);
      expect(truncated).toBe(true);
      expect(bytes).toBeLessThanOrEqual(FIELD_BYTES);
      expect(bytes).toBeGreaterThan(FIELD_BYTES - 50);
      // What was begun of the item that no longer fits was counted.
      const { length } = JSON.stringify(capped);
      expect([length <= bytes, bytes - length < 5]).toEqual([true, true]);
    }
  });

  it('never exceeds the limit, whatever the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 200 }), (value, limit) => {
        const { value: capped, truncated, bytes } = capField(value, limit);
        expect(bytes).toBeLessThanOrEqual(limit);
        // A text within a value may be escaped in JSON; nothing else is longer than what was counted.
        const plain = JSON.stringify(capped).replace(/\\u[0-9a-f]{4}|\\./g, '');
        if (limit >= 4) expect(plain.length).toBeLessThanOrEqual(limit + 2);
        if (!truncated) expect(JSON.stringify(capped)).toBe(JSON.stringify(value ?? null));
      }),
    );
  });
});

describe('cutText', () => {
  it('cuts no character in two', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(50), (text, limit) => {
        fc.pre(!text.includes('\ufffd'));
        const cut = cutText(text, limit);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut).not.toContain('\ufffd');
      }),
    );
  });
});
