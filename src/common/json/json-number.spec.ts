import fc from 'fast-check';
import { numberProblem } from './json-number.js';

/** Every notation of an integer: as it is, with a fraction of zeros, with the point moved into an exponent. */
interface Notation {
  zeros: number;
  moved: number;
  sign: string;
  e: string;
}

const notation: fc.Arbitrary<Notation> = fc.record({
  zeros: fc.integer({ min: 0, max: 5 }),
  moved: fc.integer({ min: 0, max: 30 }),
  sign: fc.constantFrom('', '+'),
  e: fc.constantFrom('e', 'E'),
});

function written(digits: string, { zeros, moved, sign, e }: Notation): string[] {
  const [, minus = '', whole = ''] = /^(-?)(\d+)$/.exec(digits) ?? [];
  const padded = whole.padStart(moved + 1, '0');
  const point = padded.length - moved;
  const shifted = `${padded.slice(0, point)}.${padded.slice(point)}${'0'.repeat(zeros)}`;
  return [
    digits,
    `${digits}.${'0'.repeat(zeros + 1)}`,
    `${digits}${e}${sign}0`,
    `${digits}${'0'.repeat(zeros)}${e}-${zeros}`,
    `${minus}${shifted.endsWith('.') ? `${shifted}0` : shifted}${e}${sign}${moved}`,
  ];
}

describe('numberProblem', () => {
  it.each([
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '9007199254740993.0',
    '9007199254740993e0',
    '900719925474099.3e1',
    '9007199254740993000E-3',
    '1.0000000000000001e16',
    '9007199254740992.5',
    '1e16',
    '1e20',
    '100000000000000000000000',
    '1.00000000000000000001e25',
  ])('tells that the integer %s would be rounded', (literal) =>
    expect(numberProblem(literal)).toBe(
      `the integer ${literal} is outside ±(2^53−1) and would be rounded; send it as a string`,
    ),
  );

  it.each(['1e400', '-1e309', '1e99999999999', '9'.repeat(400)])('tells that %s is too large', (literal) =>
    expect(numberProblem(literal)).toMatch(/^the number .* is too large$/),
  );

  it.each(['1e-400', '-0.1e-999999'])('tells that %s is too small', (literal) =>
    expect(numberProblem(literal)).toBe(`the number ${literal} is too small`),
  );

  it.each([
    ...['0', '-0', '0e400', '0.0000000000000000000', '-0.0E-999', '9007199254740991', '-9007199254740991.00'],
    ...['9.007199254740991e15', '6.02214076e23', '1e300', '1.7976931348623157e308', '5e-324', '1e2'],
    ...['0.1', '0.12345678901234567', '3.14159265358979323846', '1.5e10'],
  ])('takes %s', (literal) => expect(numberProblem(literal)).toBeNull());

  it('leaves what is no JSON number to the parser', () => {
    for (const literal of ['00000000000000000001', '1.e400', '12345678901234567.', '1e+', '1e4e400']) {
      expect(numberProblem(literal)).toBeNull();
    }
  });

  it('takes exactly the integers of ±(2^53−1), in every notation', () => {
    const near = fc.bigInt({ min: 2n ** 53n - 50n, max: 2n ** 53n + 50n });
    const integer = fc.oneof(near, fc.bigInt({ min: -(10n ** 21n) + 1n, max: 10n ** 21n - 1n }));
    fc.assert(
      fc.property(integer, fc.boolean(), notation, (value, negated, how) => {
        const digits = String(negated ? -value : value);
        const isSafe = value <= 2n ** 53n - 1n && value >= -(2n ** 53n) + 1n;
        for (const literal of written(digits, how)) {
          expect([literal, numberProblem(literal) === null]).toEqual([literal, isSafe]);
          if (isSafe) expect(BigInt(Number(literal))).toBe(BigInt(digits));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('takes what it took once more after it has been written out: nothing is refused on its way', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.double({ noNaN: true }),
        (one, two) => {
          for (const literal of [JSON.stringify(one), one.toExponential(), `${JSON.stringify(two)}e3`]) {
            if (numberProblem(literal) !== null || !Number.isFinite(Number(literal))) continue;
            expect(numberProblem(JSON.stringify(Number(literal)))).toBeNull();
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});
