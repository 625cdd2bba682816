import fc from 'fast-check';
import { capField, cutText, FIELD_BYTES } from './cap-field.js';

describe('capField', () => {
  it('leaves what fits as it is', () => {
    const value = { a: ['x', 1, null, true], b: { c: '汉' } };
    expect(capField(value)).toEqual({ value, truncated: false });
    expect(capField('x'.repeat(FIELD_BYTES))).toMatchObject({ truncated: false });
    expect(capField(undefined)).toEqual({ value: null, truncated: false });
  });

  it('cuts texts at a character and lists after the last item that fits', () => {
    expect(capField('汉汉汉', 7)).toEqual({ value: '汉汉', truncated: true });
    expect(capField(['aaaa', 'bbbb', 'cccc'], 6)).toEqual({ value: ['aaaa', 'bb'], truncated: true });
    expect(capField({ a: 'xxxx', b: 'yyyy' }, 5)).toEqual({ value: { a: 'xxxx' }, truncated: true });
  });

  it('drops what lies too deep, without overflowing the stack', () => {
    let deep: unknown = 'bottom';
    for (let level = 0; level < 5000; level += 1) deep = [deep];
    expect(capField(deep).truncated).toBe(true);
  });

  it('never exceeds the limit in text, whatever the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 200 }), (value, limit) => {
        const { value: capped, truncated } = capField(value, limit);
        expect(textBytes(capped)).toBeLessThanOrEqual(limit);
        if (!truncated) expect(JSON.stringify(capped)).toBe(JSON.stringify(value ?? null));
      }),
    );
  });

  function textBytes(value: unknown): number {
    if (typeof value === 'string') return Buffer.byteLength(value);
    if (typeof value !== 'object' || value === null) return 0;
    return Object.values(value).reduce((sum: number, item) => sum + textBytes(item), 0);
  }
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
