/** `npm run migration:run` and `npm run migration:generate NAME`, on what the sources say now. */
import { buildWhenStale } from './build.js';

const [command] = process.argv.splice(2, 1);
try {
  buildWhenStale();
} catch (error) {
  process.stderr.write(`migration:${command}: ${error.message}\n`);
  process.exit(1);
}
await import(`../dist/database/commands/migration-${command === 'generate' ? 'generate' : 'run'}.js`);
