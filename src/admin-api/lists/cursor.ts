import type { z } from 'zod';
import { ValidationError } from '../../common/errors/domain-error.js';

/** Opaque to clients: where a page ended. */
export function encodeCursor(place: unknown): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** The place that a cursor of an earlier answer stands for. Throws ValidationError for any other text. */
export function decodeCursor<S extends z.ZodType>(schema: S, cursor: string): z.infer<S> {
  const parsed = schema.safeParse(jsonIn(cursor));
  if (parsed.success) return parsed.data;
  throw ValidationError.ofFields([{ field: 'cursor', message: 'is not a cursor of an earlier answer' }]);
}

function jsonIn(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    // Not a cursor: no place fits it.
    return undefined;
  }
}
