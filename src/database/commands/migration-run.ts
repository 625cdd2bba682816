import 'reflect-metadata';
import { createLogger } from '../../common/logging/logger.js';
import { loadConfig } from '../../config/load-config.js';
import { openDatabase } from '../open-database.js';
import { runCommand } from './run-command.js';

/** `npm run migration:run`: brings the schema up to date and ends; the server does the same at its start. */
await runCommand('migration:run', async () => {
  const { config } = loadConfig();
  const database = await openDatabase(config, createLogger({ level: config.logLevel }));
  const pending = await database.dataSource.showMigrations();
  await database.close();
  if (pending) throw new Error('some migrations did not run');
  process.stdout.write('the database is up to date\n');
});
