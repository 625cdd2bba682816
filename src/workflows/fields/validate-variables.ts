import { ValidationError } from '../../common/errors/domain-error.js';
import type { JsonObject } from '../../common/json/json-value.js';
import type { GraphData } from '../graph/graph-data.js';
import { completeFields } from './field-values.js';
import { inputFields } from './graph-fields.js';

/**
 * The variables of a new run with the defaults of the `userInput` node's fields. Throws ValidationError with
 * `variables.NAME` for each wrong or missing one. Variables that no field declares are kept and can be read by
 * templates: the specified API never refused them, so existing clients may send some.
 */
export function validateVariables(graphData: GraphData, variables: JsonObject): JsonObject {
  const { values, errors } = completeFields(inputFields(graphData), variables, 'variables.');
  if (errors.length > 0) throw ValidationError.ofFields(errors);
  return values;
}
