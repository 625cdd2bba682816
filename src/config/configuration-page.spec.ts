import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { z } from 'zod';
import { appConfigSchema } from './app-config.js';
import { kebabCase } from './key-names.js';
import { shapeOf } from './schema-shape.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const page = readFileSync(path.join(ROOT, 'docs/configuration.md'), 'utf8');
const defaults = parse(readFileSync(path.join(ROOT, 'config/default.yaml'), 'utf8')) as unknown;

/** `hermes.llm.base-url` and so on: every key that holds a value. */
function keysOf(schema: z.ZodType, prefix: readonly string[] = []): string[] {
  const shape = shapeOf(schema);
  if (shape.kind !== 'object') return [prefix.map(kebabCase).join('.')];
  return Object.entries(shape.fields).flatMap(([key, field]) => keysOf(field, [...prefix, key]));
}

/** Fields of the entries of a list or record. */
function entryFields(schema: z.ZodType): string[] {
  const shape = shapeOf(schema);
  const entry = shape.kind === 'list' ? shape.element : shape.kind === 'record' ? shape.value : schema;
  const inner = shapeOf(entry);
  return inner.kind === 'object' ? Object.keys(inner.fields) : [];
}

function section(heading: string): string {
  return new RegExp(`## ${heading}\n([^]*?)(?=\n## |$)`).exec(page)?.[1] ?? '';
}

/** The cells of a section's table. */
function rows(heading: string): string[][] {
  return section(heading)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
}

const named = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? '');

describe('docs/configuration.md', () => {
  const table = rows('Keys');

  it('lists every key of the schema and no other', () => {
    // NODE_ENV alone says it.
    const { shape } = appConfigSchema.omit({ environment: true });
    const keys = Object.entries(shape).flatMap(([key, field]) => keysOf(field as z.ZodType, [key]));
    expect(table.flatMap(([key]) => named(key))).toEqual(keys);
  });

  it.each(table)('tells the default of %s', (key, told) => {
    const value = named(key)
      .join('')
      .split('.')
      .reduce<unknown>((tree, name) => (tree as Record<string, unknown> | undefined)?.[name], defaults);
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    expect(named(told)).toEqual([text]);
  });

  it('lists every field of keys and credentials', () => {
    const { externalApi, admin, credentials } = appConfigSchema.shape;
    const ofKeys = rows('Keys of callers').flatMap(([field]) => named(field));
    const fields = [...entryFields(externalApi.shape.keys), ...entryFields(admin.shape.apiKeys)];
    expect(ofKeys.sort()).toEqual([...new Set(fields)].sort());
    const ofCredentials = rows('Credentials').flatMap(([field]) => named(field));
    expect(ofCredentials.sort()).toEqual(entryFields(credentials).sort());
  });
});
