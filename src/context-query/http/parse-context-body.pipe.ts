import type { PipeTransform } from '@nestjs/common';
import type { z } from 'zod';
import { ContextQueryError } from '../queries/context-query-error.js';
import { MAX_BODY_BYTES } from './read-body.js';

/** Turns the bytes of a body into a checked request. Throws 400, or 413 for a body that was too long. */
export class ParseContextBody<T> implements PipeTransform<unknown, T> {
  constructor(private readonly schema: z.ZodType<T>) {}

  transform(body: unknown): T {
    if (body === null) throw new ContextQueryError(413, `the body is longer than ${MAX_BODY_BYTES} bytes`);
    const result = this.schema.safeParse(parseJson(body));
    if (result.success) return result.data;
    const problems = result.error.issues.map(
      ({ path, message }) => `${path.join('.') || 'body'}: ${message}`,
    );
    throw new ContextQueryError(400, problems.join('; '));
  }
}

function parseJson(body: unknown): unknown {
  try {
    if (!Buffer.isBuffer(body)) throw new TypeError('no bytes');
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) {
      throw new ContextQueryError(400, 'the body is not JSON in UTF-8');
    }
    throw error;
  }
}
