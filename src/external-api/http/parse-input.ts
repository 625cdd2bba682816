import type { z } from 'zod';
import { ValidationError } from '../../common/errors/domain-error.js';

/** What `schema` makes of `input`; throws a ValidationError that names every wrong field. */
export function parseInput<S extends z.ZodType>(schema: S, input: unknown): z.infer<S> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw ValidationError.ofFields(
    parsed.error.issues.map(({ path, message }) => ({ field: path.map(String).join('.'), message })),
  );
}
