import { plainDecimal } from './plain-decimal.js';

describe('plainDecimal', () => {
  it.each([
    ['0.0012', '0.0012'],
    ['12', '12'],
    ['007.50', '7.50'],
    ['6.0E-7', '0.00000060'],
    ['6e-7', '0.0000006'],
    ['1.5E-2', '0.015'],
    ['12.5e-1', '1.25'],
    ['0E-7', '0.0000000'],
    ['1E+2', '100'],
    ['1.25e1', '12.5'],
    ['1.25e2', '125'],
    ['1e39', `1${'0'.repeat(39)}`],
  ])('writes %s as %s', (text, plain) => {
    expect(plainDecimal(text)).toBe(plain);
    expect(plainDecimal(plain)).toBe(plain);
  });

  it.each([
    '',
    '-1',
    '+1',
    '.5',
    '1.',
    'NaN',
    'Infinity',
    '1e',
    '1e400',
    '1e99',
    '1e-60',
    '9'.repeat(41),
    '1,5',
    ' 1',
  ])('takes %j for no price', (text) => {
    expect(plainDecimal(text)).toBeNull();
  });
});
