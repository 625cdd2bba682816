/**
 * `npm test`: every gate, then every suite but the long ones (`test:faults`, `test:load`, `test:cluster`). All of
 * them run, so that one look shows everything that is wrong; the last line counts, a failed gate as a failed test.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { buildWhenStale } from './build.js';
import { closingLine, exitCode, runJest } from './run-jest.js';

const ROOT = path.resolve(import.meta.dirname, '..');
const bin = (name) => path.join(ROOT, 'node_modules/.bin', name);

/** Side by side: the slowest, and the others after one another. */
const lanes = [
  [['lint', bin('eslint'), ['.', '--max-warnings', '0']]],
  [
    ['types', bin('tsc'), ['--noEmit']],
    ['format', bin('prettier'), ['--check', '--log-level', 'warn', '.']],
    ['boundaries', bin('depcruise'), ['src', '--config', '.dependency-cruiser.js', '--output-type', 'err']],
  ],
];

async function timed(name, run) {
  const began = Date.now();
  console.log(`== ${name}`);
  try {
    return await run();
  } finally {
    console.log(`== ${name}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
  }
}

const failedGates = [];
await timed('gates', () =>
  Promise.all(
    lanes.map(async (gates) => {
      for (const [name, command, args] of gates) {
        const code = await exitCode(spawn(command, args, { cwd: ROOT, stdio: 'inherit' }));
        if (code !== 0) failedGates.push(name);
      }
    }),
  ),
);
let counts = { passed: 0, failed: 0, skipped: 0 };
try {
  await timed('build', buildWhenStale);
  counts = await timed('suites', () => runJest(['unit', 'integration', 'e2e'], ['--maxWorkers=100%']));
} catch (error) {
  console.error(error);
  failedGates.push('the suites did not run');
}
for (const name of failedGates) console.error(`FAILED: ${name}`);
const total = { ...counts, failed: counts.failed + failedGates.length };
console.log(closingLine(total));
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
