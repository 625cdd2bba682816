import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from '@swc/core';

const SOURCES = fileURLToPath(new URL('../../../src/', import.meta.url));
/** The bridge with what it shares with the server, and what supervises it. */
const FOLDERS = ['bridge', 'common/json', 'common/time', 'runtime-adapters/hermes'];
/** Below node_modules, so that the compiled bridge finds its packages. */
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/bridge-under-test/', import.meta.url));

/** Compiles the bridge as it stands, once for the same sources, and gives the path of its main.js. */
export async function compiledBridge(): Promise<string> {
  const files = (await Promise.all(FOLDERS.map(sourcesIn))).flat();
  const sources = await Promise.all(
    files.sort().map(async (file) => ({ file, code: await readFile(join(SOURCES, file), 'utf8') })),
  );
  const hash = createHash('sha256').update(JSON.stringify(sources)).digest('hex').slice(0, 16);
  const folder = join(CACHE, hash);
  if (!existsSync(folder)) await compile(sources, folder);
  return join(folder, 'bridge', 'main.js');
}

async function sourcesIn(folder: string): Promise<string[]> {
  const files = await readdir(join(SOURCES, folder), { recursive: true });
  return files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .map((file) => join(folder, file));
}

async function compile(sources: { file: string; code: string }[], folder: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(join(CACHE, 'work-'));
  await writeFile(join(work, 'package.json'), '{"type":"module"}');
  for (const { file, code } of sources) {
    const { code: compiled } = await transform(code, {
      filename: file,
      jsc: {
        target: 'es2022',
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true },
      },
      module: { type: 'es6' },
    });
    const target = join(work, file.replace(/\.ts$/, '.js'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, compiled);
  }
  // Another worker may have been faster; its result is the same.
  await rename(work, folder).catch(async () => {
    if (!existsSync(folder)) await cp(work, folder, { recursive: true });
    await rm(work, { recursive: true, force: true });
  });
}
