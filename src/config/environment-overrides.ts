import type { z } from 'zod';
import type { ConfigLayers } from './config-layers.js';
import { environmentName } from './key-names.js';
import { shapeOf, type SchemaShape } from './schema-shape.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Sections whose upper-case name is a common prefix of variables that are not ours (HTTP_PROXY, DATABASE_HOST). */
const GENERIC_SECTIONS: ReadonlySet<string> = new Set([
  'http',
  'database',
  'admin',
  'credentials',
  'audit',
  'events',
]);

/** What Kubernetes puts into the environment for a service called, say, `hermes` or `engine`. */
const SERVICE_LINK = /_SERVICE_HOST$|_SERVICE_PORT(_|$)|_PORT$|_PORT_\d+_(TCP|UDP)/;

/**
 * Every key of the schema may come from the environment, in upper snake case; lists, records and sections as JSON.
 * An empty variable counts as unset. A variable that begins with one of our sections and is no key is a problem.
 */
export function addEnvironment(layers: ConfigLayers, schema: z.ZodType, environment: Environment): void {
  const known = new Set<string>();
  const visit = (one: z.ZodType, path: readonly string[]): void => {
    const shape = shapeOf(one);
    if (path.length > 0) {
      const name = environmentName(path);
      known.add(name);
      const text = environment[name];
      if (text !== undefined && text !== '') addVariable(layers, shape, path, name, text);
    }
    if (shape.kind === 'object') {
      for (const [key, field] of Object.entries(shape.fields)) visit(field, [...path, key]);
    }
  };
  visit(schema, []);
  reportUnknown(layers, schema, environment, known);
}

function addVariable(
  layers: ConfigLayers,
  shape: SchemaShape,
  path: readonly string[],
  name: string,
  text: string,
): void {
  if (shape.kind === 'scalar') {
    layers.add(scalar(text, shape.types), name, path);
    return;
  }
  // A foreign `HTTP` or `ADMIN` is no attempt to give us a section.
  if (path.length === 1 && shape.kind === 'object' && !text.trimStart().startsWith('{')) return;
  try {
    layers.add(JSON.parse(text), name, path);
  } catch {
    // The parser's message quotes the text, which may hold secrets.
    layers.problems.push({ key: layers.describe(path).key, message: 'is not valid JSON', source: name });
  }
}

function scalar(text: string, types: ReadonlySet<string>): unknown {
  const trimmed = text.trim();
  if (types.has('null') && trimmed === 'null') return null;
  if (types.has('number') && /^[+-]?\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed);
  if (types.has('boolean') && /^(true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true';
  return text;
}

function reportUnknown(
  layers: ConfigLayers,
  schema: z.ZodType,
  environment: Environment,
  known: ReadonlySet<string>,
): void {
  const root = shapeOf(schema);
  if (root.kind !== 'object') return;
  const prefixes = Object.entries(root.fields)
    .filter(([key, field]) => shapeOf(field).kind === 'object' && !GENERIC_SECTIONS.has(key))
    .map(([key]) => `${environmentName([key])}_`);
  const named = variablesNamedIn(layers.tree);
  for (const name of Object.keys(environment)) {
    if (!prefixes.some((prefix) => name.startsWith(prefix))) continue;
    if (known.has(name) || named.has(name) || SERVICE_LINK.test(name)) continue;
    layers.problems.push({ key: name, message: 'is an environment variable that overrides no known key' });
  }
}

/** The variables that the configuration itself names as sources of secrets, by `env` or `keyEnv`. */
function variablesNamedIn(value: unknown): Set<string> {
  const found = new Set<string>();
  const visit = (one: unknown): void => {
    if (typeof one !== 'object' || one === null) return;
    for (const [key, child] of Object.entries(one)) {
      if ((key === 'env' || key === 'keyEnv') && typeof child === 'string') found.add(child);
      else visit(child);
    }
  };
  visit(value);
  return found;
}
