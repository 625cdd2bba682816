import { z } from 'zod';
import { listQuery } from '../lists/list-query.js';

/** Printable: what reaches the database as text must not hold U+0000. */
const word = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}]*$/u, 'must not hold control characters');
const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

/** Query of `GET /admin/v1/audit-logs`. */
export const auditQuery = listQuery.extend({
  action: word.optional(),
  /** Name of the key that acted. */
  actor: word.optional(),
  subjectType: word.optional(),
  subjectId: word.optional(),
  from: time.optional(),
  to: time.optional(),
});
