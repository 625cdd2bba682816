import type { z } from 'zod';
import type { ConfigProblem } from './config-error.js';
import { camelCase, kebabCase, yamlPath } from './key-names.js';
import { shapeOf } from './schema-shape.js';

/** Where a value came from and how its key was written there, for messages. */
interface Origin {
  readonly spelling: string;
  readonly source: string;
}

type Tree = Record<string, unknown>;

/**
 * Lays sources over each other: later ones win, sections and records are merged key by key, lists and scalars are
 * replaced. Keys become camel case by walking the schema, so that the keys of records (credentials.<ref>) stay as
 * they are; a key the schema does not know is a problem.
 */
export class ConfigLayers {
  readonly #schema: z.ZodType;
  readonly #origins = new Map<string, Origin>();
  readonly problems: ConfigProblem[] = [];
  readonly tree: Tree = {};

  constructor(schema: z.ZodType) {
    this.#schema = schema;
  }

  /** `value` as parsed from YAML or JSON, to stand at `path` (camel case; empty: the whole configuration). */
  add(value: unknown, source: string, path: readonly string[] = []): void {
    let schema = this.#schema;
    let tree = this.tree;
    for (const key of path.slice(0, -1)) {
      schema = fieldOf(schema, key);
      tree = (tree[key] ??= {}) as Tree;
    }
    const last = path.at(-1);
    const spelling = path.map(kebabCase);
    if (last === undefined) {
      const read = this.#read(schema, value, path, spelling, source);
      if (isTree(read)) merge(tree, read);
      return;
    }
    const read = this.#read(fieldOf(schema, last), value, path, spelling, source);
    merge(tree, { [last]: read });
  }

  /** The path as its author wrote it and the source it came from. */
  describe(path: readonly PropertyKey[]): { key: string; source?: string } {
    const known = this.#origins.get(JSON.stringify(path));
    if (known) return { key: known.spelling, source: known.source };
    const parent = path.length > 0 ? this.#origins.get(JSON.stringify(path.slice(0, -1))) : undefined;
    const last = path.at(-1);
    if (parent && last !== undefined) {
      const key = typeof last === 'number' ? `[${last}]` : `.${this.#kebab(path, last)}`;
      return { key: `${parent.spelling}${key}`, source: parent.source };
    }
    return { key: yamlPath(path.map((key) => (typeof key === 'string' ? kebabCase(key) : key))) };
  }

  #kebab(path: readonly PropertyKey[], last: PropertyKey): string {
    return path.some((key) => typeof key === 'number') ? String(last) : kebabCase(String(last));
  }

  #read(
    schema: z.ZodType,
    value: unknown,
    path: readonly PropertyKey[],
    spelling: readonly PropertyKey[],
    source: string,
  ): unknown {
    this.#origins.set(JSON.stringify(path), { spelling: yamlPath(spelling), source });
    const shape = shapeOf(schema);
    if (shape.kind === 'list' && Array.isArray(value)) {
      return value.map((one, at) => this.#read(shape.element, one, [...path, at], [...spelling, at], source));
    }
    if (shape.kind === 'record' && isTree(value)) {
      return this.#readEntries(value, (key) => ({ key, schema: shape.value }), path, spelling, source);
    }
    if (shape.kind !== 'object') return value;
    // `hermes:` with nothing below it but comments.
    if (value === null) return {};
    if (!isTree(value)) return value;
    const field = (written: string) => {
      const key = camelCase(written);
      const known = Object.hasOwn(shape.fields, key) ? shape.fields[key] : undefined;
      return known && { key, schema: known };
    };
    return this.#readEntries(value, field, path, spelling, source);
  }

  #readEntries(
    value: Tree,
    field: (written: string) => { key: string; schema: z.ZodType } | undefined,
    path: readonly PropertyKey[],
    spelling: readonly PropertyKey[],
    source: string,
  ): Tree {
    const read: Tree = {};
    for (const [written, one] of Object.entries(value)) {
      const known = written === '__proto__' ? undefined : field(written);
      const spelled = [...spelling, written];
      if (!known) {
        this.problems.push({ key: yamlPath(spelled), message: 'is not a known key', source });
      } else if (Object.hasOwn(read, known.key)) {
        this.problems.push({ key: yamlPath(spelled), message: 'is given twice', source });
      } else {
        read[known.key] = this.#read(known.schema, one, [...path, known.key], spelled, source);
      }
    }
    return read;
  }
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldOf(schema: z.ZodType, key: string): z.ZodType {
  const shape = shapeOf(schema);
  const field = shape.kind === 'object' ? shape.fields[key] : undefined;
  if (!field) throw new Error(`the schema has no key ${key}`);
  return field;
}

function merge(into: Tree, from: Tree): void {
  for (const [key, value] of Object.entries(from)) {
    const present = into[key];
    if (isTree(present) && isTree(value)) merge(present, value);
    else into[key] = value;
  }
}
