export { JsonSchemaValidator } from './json-schema-validator.js';
export type { SchemaProblem } from './schema-problem.js';
