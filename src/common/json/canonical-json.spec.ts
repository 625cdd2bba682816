import fc from 'fast-check';
import { canonicalJson } from './canonical-json.js';
import type { JsonValue } from './json-value.js';

function reordered(value: JsonValue): JsonValue {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(reordered);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reordered(inner)]),
  );
}

describe('canonicalJson', () => {
  it('does not depend on the order of keys', () => {
    expect(canonicalJson({ b: 1, a: { d: [1, 2], c: null } })).toBe('{"a":{"c":null,"d":[1,2]},"b":1}');
  });

  it('keeps the order of arrays', () => {
    expect(canonicalJson([2, 1])).not.toBe(canonicalJson([1, 2]));
  });

  it('is one text per value, also after a round trip through JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (generated) => {
        const value = JSON.parse(JSON.stringify(generated)) as JsonValue;
        const text = canonicalJson(value);
        expect(canonicalJson(reordered(value))).toBe(text);
        expect(canonicalJson(JSON.parse(text) as JsonValue)).toBe(text);
      }),
    );
  });
});
