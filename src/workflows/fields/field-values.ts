import type { FieldError } from '../../common/errors/domain-error.js';
import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import { orderedObject } from '../../common/json/ordered-object.js';
import type { InputField } from '../graph/graph-data.js';
import { fieldValueProblem } from './field-value.js';

/**
 * Values for declared fields with their defaults filled in, and every wrong one with `prefix` before its name. A null
 * counts as not given. Values that no field declares are kept: callers of the specified API may send more than a
 * workflow asks for.
 */
export function completeFields(
  fields: readonly InputField[],
  values: JsonObject,
  prefix: string,
): { values: JsonObject; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const complete = new Map<string, JsonValue>(Object.entries(values));
  for (const field of fields) {
    const given = complete.get(field.name) ?? null;
    const value = given ?? field.default ?? null;
    if (value === null) {
      if (field.required) errors.push({ field: prefix + field.name, message: 'is required' });
      continue;
    }
    complete.set(field.name, value);
    const problem = fieldValueProblem(field, value);
    if (problem) errors.push({ field: prefix + field.name, message: problem });
  }
  return { values: orderedObject(complete), errors };
}
