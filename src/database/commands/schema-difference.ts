import type { DataSource } from 'typeorm';

export interface SchemaDifference {
  readonly up: readonly string[];
  readonly down: readonly string[];
}

/**
 * The statements that would bring the database to what the entities say. Foreign keys and checks stand in the
 * migrations alone, so that the database has more of them than the entities is no difference.
 */
export async function schemaDifference(dataSource: DataSource): Promise<SchemaDifference> {
  const { upQueries, downQueries } = await dataSource.driver.createSchemaBuilder().log();
  const isOurs = (query: string): boolean =>
    !/^ALTER TABLE "\w+" (DROP|ADD) CONSTRAINT "\w+_(fkey|check)"/.test(query);
  return {
    up: upQueries.map(({ query }) => query).filter(isOurs),
    down: downQueries
      .map(({ query }) => query)
      .reverse()
      .filter(isOurs),
  };
}
