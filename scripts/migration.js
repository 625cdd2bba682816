/** `npm run migration:run` and `npm run migration:generate NAME`, on what the sources say now. */
import { buildWhenStale } from './build.js';

const [command] = process.argv.splice(2, 1);
buildWhenStale();
await import(`../dist/database/commands/migration-${command === 'generate' ? 'generate' : 'run'}.js`);
