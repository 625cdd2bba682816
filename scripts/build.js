/**
 * Compiles src/ to dist/. Beside it first and then in its place, so that a failed build leaves the last good one and
 * nobody starts half of one.
 */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(import.meta.dirname, '..');
const DIST = path.join(ROOT, 'dist');
const INPUTS = ['src', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'];

/** `check: false` leaves type errors to `npm test` and `npm run build`; what is written is the same. */
export function build({ check = true } = {}) {
  const fresh = `${DIST}.${process.pid}.new`;
  const old = `${DIST}.${process.pid}.old`;
  const tsc = path.join(
    path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')),
    'bin/tsc',
  );
  const options = [
    '-p',
    'tsconfig.build.json',
    '--outDir',
    fresh,
    '--incremental',
    'false',
    '--tsBuildInfoFile',
    'null',
  ];
  try {
    if (!check) options.push('--noCheck');
    const { status, error } = spawnSync(process.execPath, [tsc, ...options], { cwd: ROOT, stdio: 'inherit' });
    if (error) throw error;
    if (status !== 0) throw new Error('the build failed');
    if (exists(DIST)) renameSync(DIST, old);
    renameSync(fresh, DIST);
  } finally {
    for (const directory of [fresh, old]) rmSync(directory, { recursive: true, force: true });
  }
}

/** Builds where there is no build, or one that is older than a source. */
export function buildWhenStale() {
  const main = path.join(DIST, 'main.js');
  if (exists(main) && INPUTS.every((input) => newest(path.join(ROOT, input)) <= statSync(main).mtimeMs))
    return;
  build({ check: false });
}

function exists(file) {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}

function newest(file) {
  const stats = statSync(file);
  if (!stats.isDirectory()) return stats.mtimeMs;
  const entries = readdirSync(file).filter((name) => !name.endsWith('.spec.ts'));
  return Math.max(stats.mtimeMs, ...entries.map((name) => newest(path.join(file, name))));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build();
