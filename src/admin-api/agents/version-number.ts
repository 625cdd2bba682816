import { z } from 'zod';

/** A version's number in a path. */
export const versionNumber = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, 'must be a version number')
  .transform(Number);
