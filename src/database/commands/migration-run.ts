import 'reflect-metadata';
import { createLogger } from '../../common/logging/logger.js';
import { loadConfig } from '../../config/load-config.js';
import { openDatabase } from '../open-database.js';

/** `npm run migration:run`: brings the schema up to date and ends; the server does the same at its start. */
const { config } = loadConfig();
const database = await openDatabase(config, createLogger({ level: config.logLevel }));
const pending = await database.dataSource.showMigrations();
await database.close();
process.stdout.write(pending ? 'some migrations did not run\n' : 'the database is up to date\n');
process.exitCode = pending ? 1 : 0;
