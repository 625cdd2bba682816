import 'reflect-metadata';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createLogger } from '../../common/logging/logger.js';
import { loadConfig } from '../../config/load-config.js';
import { openDatabase } from '../open-database.js';
import { migrationSource } from './migration-source.js';
import { runCommand } from './run-command.js';
import { schemaDifference } from './schema-difference.js';

const MIGRATIONS = path.resolve(import.meta.dirname, '../../../src/database/migrations');

/**
 * `npm run migration:generate NAME`: writes what the entities have and the migrated database has not. A draft: read
 * it, name its constraints, and add it to migrations/index.ts.
 */
const [name = ''] = process.argv.slice(2);
if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
  process.stderr.write('usage: npm run migration:generate name-in-kebab-case\n');
  process.exit(2);
}
await runCommand('migration:generate', async () => {
  const { config } = loadConfig();
  const database = await openDatabase(config, createLogger({ level: config.logLevel }));
  try {
    const { up, down } = await schemaDifference(database.dataSource);
    if (up.length === 0) {
      process.stdout.write('the entities and the database agree: nothing to migrate\n');
    } else {
      const millis = Date.now();
      const file = path.join(MIGRATIONS, `${millis}-${name}.ts`);
      await writeFile(file, migrationSource(name, millis, up, down), { flag: 'wx' });
      process.stdout.write(
        `wrote ${path.relative(process.cwd(), file)}; read it and add it to migrations/index.ts\n`,
      );
    }
  } finally {
    await database.close();
  }
});
