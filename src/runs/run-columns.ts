import type { DataSource } from 'typeorm';
import { RunEntity } from './run.entity.js';

const lists = new WeakMap<DataSource, string>();

/** The columns of `runs` as a select list that gives RunEntity's properties, for statements written by hand. */
export function runColumns(dataSource: DataSource): string {
  const known = lists.get(dataSource);
  if (known) return known;
  const list = dataSource
    .getMetadata(RunEntity)
    .columns.map(({ databaseName, propertyName }) => `runs.${databaseName} AS "${propertyName}"`)
    .join(', ');
  lists.set(dataSource, list);
  return list;
}
