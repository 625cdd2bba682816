import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');

/** Runs jest projects and counts: `{passed, failed, skipped}`; a file that cannot run at all counts as one failure. */
export async function runJest(projects, options = []) {
  const directory = mkdtempSync(path.join(tmpdir(), 'jest-result-'));
  const result = path.join(directory, 'result.json');
  const jest = path.join(
    path.dirname(createRequire(import.meta.url).resolve('jest/package.json')),
    'bin/jest.js',
  );
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const args = ['--selectProjects', ...projects, '--json', `--outputFile=${result}`, ...options];
  try {
    // A leak fails its test file (leak-environment.js); it must not hang the run as well.
    args.push('--forceExit');
    // jest's own --json report goes to standard output as well; its readable one to standard error.
    const code = await exitCode(
      spawn(process.execPath, [...flags, jest, ...args], {
        cwd: ROOT,
        stdio: ['ignore', 'ignore', 'inherit'],
      }),
    );
    const report = JSON.parse(readFileSync(result, 'utf8'));
    const failed = report.numFailedTests + report.numRuntimeErrorTestSuites;
    return {
      passed: report.numPassedTests,
      // A failure that no test has: an obsolete snapshot, a global teardown.
      failed: failed === 0 && code !== 0 ? 1 : failed,
      skipped: report.numPendingTests + report.numTodoTests,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The closing line that readers and tools look for. */
export function closingLine({ passed, failed, skipped }) {
  return `Tests: ${passed} passed, ${failed} failed, ${skipped} skipped`;
}

export function exitCode(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
}
