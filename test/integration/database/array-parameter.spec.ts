import fc from 'fast-check';
import { integerArray, longTextArray, textArray } from '../../../src/database/array-parameter.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

describe('array parameters', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());

  it('arrive as they were sent', async () => {
    // PostgreSQL's text has no U+0000; a lone surrogate has no UTF-8.
    const text = fc.string({ unit: 'grapheme' }).map((one) => one.replaceAll('\0', '\\"'));
    const texts = fc.array(fc.option(text), { maxLength: 20 });
    const integers = fc.array(fc.option(fc.integer()), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(texts, texts, integers, async (short, long, numbers) => {
        const [row] = await database.dataSource.query<unknown[]>(
          'SELECT $1::text[] AS short, $2::text[] AS long, $3::integer[] AS numbers',
          [textArray(short), longTextArray(long), integerArray(numbers)],
        );
        expect(row).toEqual({ short, long, numbers });
      }),
      { numRuns: 300 },
    );
  });
});
