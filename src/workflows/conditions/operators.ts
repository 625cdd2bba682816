import type { JsonValue } from '../../common/json/json-value.js';
import { assertNever } from '../../common/errors/assert-never.js';
import { jsonEquals } from './json-equals.js';
import { searchPattern } from './search-pattern.js';

/** The operators of contract.md, "Graph definition". */
export const OPERATORS = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'startsWith',
  'endsWith',
  'greaterThan',
  'greaterOrEqual',
  'lessThan',
  'lessOrEqual',
  'in',
  'notIn',
  'isEmpty',
  'isNotEmpty',
  'matches',
] as const;
export type Operator = (typeof OPERATORS)[number];

/** Those that look at the variable alone. */
export const UNARY_OPERATORS: ReadonlySet<Operator> = new Set(['isEmpty', 'isNotEmpty']);

/**
 * Whether the operator holds. Nothing is coerced: `"1"` is not 1, and an order between unlike types is false.
 * A missing value counts as null. Each `not…` is the exact opposite of its positive form.
 */
export function holds(operator: Operator, left: JsonValue, right: JsonValue): boolean {
  switch (operator) {
    case 'equals':
      return jsonEquals(left, right);
    case 'notEquals':
      return !jsonEquals(left, right);
    case 'contains':
      return contains(left, right);
    case 'notContains':
      return !contains(left, right);
    case 'startsWith':
      return typeof left === 'string' && typeof right === 'string' && left.startsWith(right);
    case 'endsWith':
      return typeof left === 'string' && typeof right === 'string' && left.endsWith(right);
    case 'greaterThan':
      return compare(left, right, (order) => order > 0);
    case 'greaterOrEqual':
      return compare(left, right, (order) => order >= 0);
    case 'lessThan':
      return compare(left, right, (order) => order < 0);
    case 'lessOrEqual':
      return compare(left, right, (order) => order <= 0);
    case 'in':
      return isIn(left, right);
    case 'notIn':
      return !isIn(left, right);
    case 'isEmpty':
      return isEmpty(left);
    case 'isNotEmpty':
      return !isEmpty(left);
    case 'matches':
      return typeof left === 'string' && typeof right === 'string' && searchPattern(right, left);
    default:
      return assertNever(operator);
  }
}

/** A text contains a text, a list an element, an object a key. */
function contains(left: JsonValue, right: JsonValue): boolean {
  if (Array.isArray(left)) return left.some((one) => jsonEquals(one, right));
  if (typeof right !== 'string' || left === null) return false;
  if (typeof left === 'string') return left.includes(right);
  return typeof left === 'object' && Object.hasOwn(left, right);
}

/** Numbers by value, texts by code unit; there is no order between anything else. */
function compare(left: JsonValue, right: JsonValue, test: (order: number) => boolean): boolean {
  if (typeof left === 'number' && typeof right === 'number') return test(left - right);
  if (typeof left !== 'string' || typeof right !== 'string') return false;
  return test(left === right ? 0 : left < right ? -1 : 1);
}

function isIn(left: JsonValue, right: JsonValue): boolean {
  return Array.isArray(right) && right.some((one) => jsonEquals(one, left));
}

/** null, "", [] and {}; neither 0 nor false. */
function isEmpty(value: JsonValue): boolean {
  if (value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
