import type { PipeTransform } from '@nestjs/common';
import type { z } from 'zod';
import { ValidationError } from '../errors/domain-error.js';
import { missingIsRequired, zodFieldErrors } from '../errors/zod-field-errors.js';

/** What `schema` makes of `input`; throws a ValidationError that names every wrong field by its dotted path. */
export function parseWith<S extends z.ZodType>(schema: S, input: unknown): z.infer<S> {
  const parsed = schema.safeParse(input, { error: missingIsRequired });
  if (parsed.success) return parsed.data;
  throw ValidationError.ofFields(zodFieldErrors(parsed.error));
}

/** `@Body(new ZodPipe(schema)) body: z.infer<typeof schema>`, and likewise for queries and parameters. */
export class ZodPipe<S extends z.ZodType> implements PipeTransform<unknown, z.infer<S>> {
  constructor(private readonly schema: S) {}

  transform(value: unknown): z.infer<S> {
    return parseWith(this.schema, value);
  }
}
