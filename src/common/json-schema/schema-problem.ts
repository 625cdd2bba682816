import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { RE2JS } from 're2js';
import { LruCache } from '../cache/lru-cache.js';
import type { JsonObject, JsonValue } from '../json/json-value.js';

/** Why a value does not fit a schema. */
export interface SchemaProblem {
  /** Where: `items.0.name`; empty for the value itself. */
  readonly path: string;
  readonly message: string;
}

/** Patterns in linear time (decision 43). Formats are notes to the reader, as the JSON Schema specification has it. */
const OPTIONS: Options = {
  strict: false,
  logger: false,
  validateFormats: false,
  code: { regExp: Object.assign(linearPattern, { code: 'linearPattern' }) },
};

/** Characters of schema text whose validators are kept. */
const CACHED_CHARACTERS = 2_000_000;
const compiled = new LruCache<string, ValidateFunction>(CACHED_CHARACTERS);

/**
 * The first problem of a value, or null when it fits the schema (draft-07, or 2020-12 where `$schema` says so).
 * Takes as long as the schema wants: for threads only. Throws an Error for a schema that is none.
 */
export function schemaProblem(schema: JsonObject, value: JsonValue): SchemaProblem | null {
  const validate = validatorOf(schema);
  if (validate(value)) return null;
  const [error] = validate.errors ?? [];
  return error ? problemOf(error) : { path: '', message: 'does not fit the schema' };
}

function validatorOf(schema: JsonObject): ValidateFunction {
  const text = JSON.stringify(schema);
  const known = compiled.get(text);
  if (known) return known;
  const { $schema } = schema;
  const is2020 = typeof $schema === 'string' && $schema.includes('2020-12');
  // An instance of its own: two schemas may have the same `$id`.
  const validate = (is2020 ? new Ajv2020(OPTIONS) : new Ajv(OPTIONS)).compile(schema);
  compiled.set(text, validate, text.length);
  return validate;
}

function linearPattern(pattern: string): { test(text: string): boolean; toString(): string } {
  const regex = RE2JS.compile(pattern);
  return { test: (text) => regex.matcher(text).find(), toString: () => pattern };
}

function problemOf({ instancePath, keyword, params, message }: ErrorObject): SchemaProblem {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty, unevaluatedProperty, allowedValues } = params as Params;
  if (keyword === 'required' && missingProperty !== undefined) {
    return { path: [...path, missingProperty].join('.'), message: 'is required' };
  }
  const extra = additionalProperty ?? unevaluatedProperty;
  if (extra !== undefined) return { path: [...path, extra].join('.'), message: 'is not allowed' };
  const allowed = allowedValues ? `: ${JSON.stringify(allowedValues).slice(0, 200)}` : '';
  return { path: path.join('.'), message: (message ?? 'does not fit the schema') + allowed };
}

interface Params {
  missingProperty?: string;
  additionalProperty?: string;
  unevaluatedProperty?: string;
  allowedValues?: unknown[];
}
