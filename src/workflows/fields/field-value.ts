import { assertNever } from '../../common/errors/assert-never.js';
import type { JsonValue } from '../../common/json/json-value.js';
import { jsonEquals } from '../conditions/json-equals.js';
import type { InputField } from '../graph/graph-data.js';

/** Why a value does not fit a field, or null when it does. Nothing is coerced. */
export function fieldValueProblem(
  field: Pick<InputField, 'type' | 'options'>,
  value: JsonValue,
): string | null {
  const wrongType = typeProblem(field.type, value);
  if (wrongType) return wrongType;
  const { options } = field;
  if (!options || options.some((option) => jsonEquals(option, value))) return null;
  return `must be one of ${options.map((option) => JSON.stringify(option)).join(', ')}`;
}

function typeProblem(type: InputField['type'], value: JsonValue): string | null {
  switch (type) {
    case 'string':
      return typeof value === 'string' ? null : 'must be a string';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? null : 'must be a number';
    case 'integer':
      return Number.isSafeInteger(value) ? null : 'must be an integer';
    case 'boolean':
      return typeof value === 'boolean' ? null : 'must be true or false';
    case 'object':
      return isObject(value) ? null : 'must be an object';
    case 'array':
      return Array.isArray(value) ? null : 'must be an array';
    case 'file':
      return isRelativePath(value)
        ? null
        : 'must be the relative path of a file of the run, such as docs/a.md';
    case 'select':
      // Its options say the rest.
      return value !== null && typeof value !== 'object' ? null : 'must be one of the options';
    default:
      return assertNever(type);
  }
}

function isObject(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A path below the workspace, as uploads have it (decision 16). Whether the file exists is not asked here. */
function isRelativePath(value: JsonValue): boolean {
  if (typeof value !== 'string' || value === '' || value.length > 4_096) return false;
  if (/[\\\p{Cc}\p{Surrogate}]/u.test(value) || /^[A-Za-z]:/.test(value)) return false;
  return value.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}
