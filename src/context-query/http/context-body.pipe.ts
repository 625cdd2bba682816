import type { PipeTransform } from '@nestjs/common';
import type { z } from 'zod';
import { ContextQueryError } from '../queries/context-query-error.js';

/** Checks a body. Throws 400 naming every wrong field. */
export class ContextBody<T> implements PipeTransform<unknown, T> {
  constructor(private readonly schema: z.ZodType<T>) {}

  transform(body: unknown): T {
    const result = this.schema.safeParse(body);
    if (result.success) return result.data;
    const problems = result.error.issues.map(
      ({ path, message }) => `${path.join('.') || 'body'}: ${message}`,
    );
    throw new ContextQueryError(400, problems.join('; '));
  }
}
