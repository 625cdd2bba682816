import type { DataSource } from 'typeorm';

/** Any number that nobody else uses for advisory locks in this database. */
const LOCK_KEY = 7_153_004_211;

/**
 * Brings the schema up to date. Servers that start at the same time take turns: the lock belongs to a transaction,
 * so that it also works behind a pooler that hands out connections by the transaction.
 * Returns the names of the migrations that ran.
 */
export async function runMigrations(dataSource: DataSource): Promise<string[]> {
  const holder = dataSource.createQueryRunner();
  try {
    await holder.startTransaction();
    await holder.query('SELECT pg_advisory_xact_lock($1)', [LOCK_KEY]);
    const ran = await dataSource.runMigrations({ transaction: 'each' });
    await holder.commitTransaction();
    return ran.map(({ name }) => name);
  } catch (error) {
    if (holder.isTransactionActive) await holder.rollbackTransaction();
    throw error;
  } finally {
    await holder.release();
  }
}
