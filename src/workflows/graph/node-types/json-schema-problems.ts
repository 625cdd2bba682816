import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { FieldError } from '../../../common/errors/domain-error.js';
import type { JsonObject, JsonValue } from '../../../common/json/json-value.js';
import { PatternError, compilePattern } from '../../conditions/search-pattern.js';

const MAX_SCHEMA_LENGTH = 100_000;
const draft07 = new Ajv({ strict: false, logger: false, validateFormats: false });
const draft2020 = new Ajv2020({ strict: false, logger: false, validateFormats: false });

/**
 * What is wrong with a JSON Schema as such (draft-07, or 2020-12 where `$schema` says so). Its patterns must be
 * linear-time ones (decision 43), its references stay inside it. No code is generated from it here.
 */
export function jsonSchemaProblems(field: string, schema: JsonObject): FieldError[] {
  if (JSON.stringify(schema).length > MAX_SCHEMA_LENGTH) {
    return [{ field, message: `is longer than ${MAX_SCHEMA_LENGTH} characters` }];
  }
  const { $schema } = schema;
  const wants2020 = typeof $schema === 'string' && $schema.includes('2020-12');
  if ($schema !== undefined && !wants2020 && !(typeof $schema === 'string' && $schema.includes('draft-07'))) {
    return [{ field: `${field}.$schema`, message: 'must be JSON Schema draft-07 or 2020-12' }];
  }
  const meta = wants2020 ? draft2020 : draft07;
  if (!meta.validateSchema(schema)) {
    return (meta.errors ?? []).slice(0, 5).map(({ instancePath, message }) => ({
      field: field + instancePath.replaceAll('/', '.'),
      message: message ?? 'is no JSON Schema',
    }));
  }
  return [...keywordProblems(field, schema)];
}

function* keywordProblems(field: string, value: JsonValue): Generator<FieldError> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, one] of Object.entries(value)) {
    const at = `${field}.${key}`;
    if (key === '$ref' && typeof one === 'string' && !one.startsWith('#')) {
      yield { field: at, message: 'must point into the schema itself' };
    }
    if (key === 'pattern' && typeof one === 'string') yield* patternProblems(at, one);
    if (key === 'patternProperties' && typeof one === 'object' && one !== null) {
      for (const pattern of Object.keys(one)) yield* patternProblems(at, pattern);
    }
    yield* keywordProblems(at, one);
  }
}

function* patternProblems(field: string, pattern: string): Generator<FieldError> {
  try {
    compilePattern(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    yield { field, message: error.message };
  }
}
