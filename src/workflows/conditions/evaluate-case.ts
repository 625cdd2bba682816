import type { JsonValue } from '../../common/json/json-value.js';
import { renderTemplateSync, resolvePath, type TemplateScope } from '../templates/index.js';
import { holds, type Operator } from './operators.js';

/** One comparison of a case; `variable` is a path such as `research.score`. */
export interface Condition {
  variable: string;
  operator: Operator;
  /** A text in it may be a template (`{{ in.limit }}`), but for `matches`; absent for isEmpty and isNotEmpty. */
  value?: JsonValue;
}

/** One case of a `condition` node; its id is the handle of the edges that belong to it. */
export interface ConditionCase {
  id: string;
  logic?: 'and' | 'or';
  conditions: readonly Condition[];
}

/** The handle of the edges that no case chose. */
export const ELSE_HANDLE = 'else';

/** Whether the case holds. Throws PatternError, TemplateRenderError. */
export function evaluateCase({ logic, conditions }: ConditionCase, scope: TemplateScope): boolean {
  const test = (condition: Condition) => evaluate(condition, scope);
  return logic === 'or' ? conditions.some(test) : conditions.every(test);
}

/** The id of the first case that holds, or `else`. */
export function chooseCase(cases: readonly ConditionCase[], scope: TemplateScope): string {
  return cases.find((one) => evaluateCase(one, scope))?.id ?? ELSE_HANDLE;
}

function evaluate({ variable, operator, value = null }: Condition, scope: TemplateScope): boolean {
  const right = operator === 'matches' ? value : rendered(value, scope);
  return holds(operator, resolvePath(scope, variable) ?? null, right);
}

function rendered(value: JsonValue, scope: TemplateScope): JsonValue {
  if (typeof value === 'string') return renderTemplateSync(value, scope);
  if (Array.isArray(value)) return value.map((one) => rendered(one, scope));
  return value;
}
