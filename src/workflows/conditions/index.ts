export {
  chooseCase,
  ELSE_HANDLE,
  evaluateCase,
  type Condition,
  type ConditionCase,
} from './evaluate-case.js';
export { jsonEquals } from './json-equals.js';
export { OPERATORS, UNARY_OPERATORS, type Operator } from './operators.js';
export { compilePattern, MAX_PATTERN_LENGTH, PatternError, searchPattern } from './search-pattern.js';
