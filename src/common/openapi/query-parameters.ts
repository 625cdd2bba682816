import type { z } from 'zod';
import type { ParameterDescription } from './operation.js';

/** Parameters out of the schema that validates the query; what is not described is called by its name. */
export function queryParameters(
  shape: Readonly<Record<string, z.ZodType>>,
  descriptions: Readonly<Record<string, string>> = {},
): ParameterDescription[] {
  return Object.entries(shape).map(([name, schema]) => ({
    name,
    in: 'query',
    description: descriptions[name] ?? name,
    schema,
  }));
}
