import { z } from 'zod';
import type { FieldError } from '../../../common/errors/domain-error.js';
import type { Condition } from '../../conditions/evaluate-case.js';
import { ELSE_HANDLE } from '../../conditions/evaluate-case.js';
import { OPERATORS, UNARY_OPERATORS } from '../../conditions/operators.js';
import { PatternError, compilePattern } from '../../conditions/search-pattern.js';
import { jsonValue, templatesIn } from './common-data.js';
import { defineNodeType } from './node-type.js';
import { repeatedNames } from './repeated-names.js';

const caseList = z
  .array(
    z.strictObject({
      id: z
        .string()
        .min(1)
        .max(64)
        .refine((id) => id !== ELSE_HANDLE, `"${ELSE_HANDLE}" is what no case chose`),
      label: z.string().max(200).optional(),
      logic: z.enum(['and', 'or']).optional(),
      conditions: z
        .array(
          z.strictObject({
            variable: z.string().min(1).max(500),
            operator: z.enum(OPERATORS),
            value: jsonValue.optional(),
          }),
        )
        .min(1)
        .max(50),
    }),
  )
  .min(1)
  .max(50);

/** `condition`: the first case that holds chooses the outcome, else `else`. */
export const conditionNode = defineNodeType({
  type: 'condition',
  shape: { cases: caseList },
  inspect: ({ cases }) => {
    // Without sound cases nobody knows which handles there are.
    if (!cases) return { handles: null };
    const conditions = cases.flatMap((one, at) =>
      one.conditions.map((condition, index) => ({ condition, field: `cases.${at}.conditions.${index}` })),
    );
    return {
      handles: [...cases.map(({ id }) => id), ELSE_HANDLE],
      references: conditions.map(({ condition, field }) => ({
        field: `${field}.variable`,
        path: condition.variable,
      })),
      templates: conditions.flatMap(({ condition, field }) =>
        condition.operator === 'matches' ? [] : templatesIn(`${field}.value`, condition.value),
      ),
      problems: [
        ...repeatedNames('cases', 'id', cases),
        ...conditions.flatMap(({ condition, field }) => valueProblems(`${field}.value`, condition)),
      ],
    };
  },
});

function valueProblems(field: string, { operator, value }: Condition): FieldError[] {
  if (UNARY_OPERATORS.has(operator)) return [];
  if (value === undefined) return [{ field, message: `is required for ${operator}` }];
  if (operator === 'in' || operator === 'notIn') {
    const isTemplate = typeof value === 'string' && value.includes('{{');
    return Array.isArray(value) || isTemplate ? [] : [{ field, message: `must be a list for ${operator}` }];
  }
  if (operator !== 'matches') return [];
  if (typeof value !== 'string') return [{ field, message: 'must be a regular expression' }];
  try {
    compilePattern(value);
    return [];
  } catch (error) {
    if (error instanceof PatternError) return [{ field, message: error.message }];
    throw error;
  }
}
