/** `npm run test:faults`, `test:load` and `test:cluster`: one jest project by itself. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { buildWhenStale } from './build.js';
import { closingLine, runJest } from './run-jest.js';

const [project = '', ...options] = process.argv.slice(2);
const directory = path.resolve(import.meta.dirname, '../test', project);
const specs = statSync(directory, { throwIfNoEntry: false })
  ? readdirSync(directory, { recursive: true }).filter((name) => String(name).endsWith('.spec.ts'))
  : [];
if (specs.length === 0) {
  console.log(`There are no tests in test/${project} yet.`);
} else {
  buildWhenStale();
  // One file at a time: these suites kill processes and measure.
  const counts = await runJest([project], ['--runInBand', ...options]);
  console.log(closingLine(counts));
  process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);
}
