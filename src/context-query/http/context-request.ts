import { z } from 'zod';
import { META_KINDS, type MetaQuery } from '../queries/query-meta.js';
import type { OutputQuery } from '../queries/query-output.js';

const runId = z.string().min(1).max(200);
const uuid = z.guid().transform((text) => text.toLowerCase());
const nodeId = z.string().min(1).max(200);
/** Models often leave an optional text empty instead of null. */
const orNull = <T extends z.ZodType>(schema: T) =>
  z
    .preprocess((value) => (value === '' ? null : value), schema.nullish())
    .transform((value) => value ?? null);
const iterSeq = z
  .int()
  .min(1)
  .nullish()
  .transform((value) => value ?? null);

/** Body of `POST /internal/context/path`. */
export const pathRequest = z.object({ runId, visitUuid: uuid });

/** Body of `POST /internal/context/output`. */
export const outputRequest = z
  .object({ runId, nodeId, field: orNull(z.string().min(1).max(1_000)), iterSeq })
  .transform(({ runId: run, ...query }): { runId: string; query: OutputQuery } => ({ runId: run, query }));

/** Body of `POST /internal/context/meta`: `visitUuid` wins over `nodeId`, an empty kind is ALL. */
export const metaRequest = z
  .object({
    runId,
    visitUuid: orNull(uuid),
    nodeId: orNull(nodeId),
    kind: orNull(z.enum(META_KINDS, `must be one of ${META_KINDS.join(', ')}`)),
    iterSeq,
  })
  .transform((body, context): { runId: string; query: MetaQuery } => {
    const kind = body.kind ?? 'ALL';
    if (body.visitUuid !== null)
      return { runId: body.runId, query: { kind, wanted: { visitUuid: body.visitUuid } } };
    if (body.nodeId === null) {
      context.addIssue({
        code: 'custom',
        path: ['nodeId'],
        message: 'is needed where visitUuid is not given',
      });
      return z.NEVER;
    }
    return { runId: body.runId, query: { kind, wanted: { nodeId: body.nodeId, iterSeq: body.iterSeq } } };
  });

export type PathRequest = z.infer<typeof pathRequest>;
export type OutputRequest = z.infer<typeof outputRequest>;
export type MetaRequest = z.infer<typeof metaRequest>;
