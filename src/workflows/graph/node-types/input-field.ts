import { z } from 'zod';
import type { FieldError } from '../../../common/errors/domain-error.js';
import { fieldValueProblem } from '../../fields/field-value.js';
import type { InputField } from '../graph-data.js';
import { jsonValue } from './common-data.js';
import { repeatedNames } from './repeated-names.js';

/** A name that templates can read; `__proto__` would be lost in objects. */
export const fieldName = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[^\p{Cc}\p{Cs}]+$/u, 'must not hold control characters')
  .refine((name) => name !== '__proto__', 'is a reserved name');

const inputField = z.strictObject({
  name: fieldName,
  type: z.enum(['string', 'number', 'integer', 'boolean', 'object', 'array', 'file', 'select']),
  required: z.boolean().optional(),
  label: z.string().max(200).optional(),
  description: z.string().max(2_000).optional(),
  default: jsonValue.optional(),
  options: z.array(jsonValue).min(1).max(500).optional(),
});

/** `fields` of `userInput` and `humanInput`. */
export const inputFieldList = z.array(inputField).max(200);

/** Names used twice, a select without options, options and defaults that do not fit their field. */
export function inputFieldProblems(fields: readonly InputField[] = []): FieldError[] {
  const problems: FieldError[] = repeatedNames('fields', 'name', fields);
  fields.forEach((field, at) => {
    const path = `fields.${at}`;
    if (field.type === 'select' && !field.options) {
      problems.push({ field: `${path}.options`, message: 'is required for a select' });
    }
    field.options?.forEach((option, index) => {
      const problem = fieldValueProblem({ type: field.type }, option);
      if (problem) problems.push({ field: `${path}.options.${index}`, message: problem });
    });
    if (field.default !== undefined && field.default !== null) {
      const problem = fieldValueProblem(field, field.default);
      if (problem) problems.push({ field: `${path}.default`, message: problem });
    }
  });
  return problems;
}
