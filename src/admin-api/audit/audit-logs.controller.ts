import { Controller, Get, Query, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import { AuditTrail, VerifyAuditChain, type AuditRecord, type ChainVerdict } from '../../audit/index.js';
import { ok, ZodPipe, type Envelope } from '../../common/http/index.js';
import { AdminKeyGuard, Roles } from '../auth/index.js';
import { adminList, type AdminList } from '../lists/admin-list.js';
import { decodeCursor, encodeCursor } from '../lists/cursor.js';
import { listQuery } from '../lists/list-query.js';

/** Printable: what reaches the database as text must not hold U+0000. */
const word = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}]*$/u, 'must not hold control characters');
const time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

const auditQuery = listQuery.extend({
  action: word.optional(),
  /** Name of the key that acted. */
  actor: word.optional(),
  subjectType: word.optional(),
  subjectId: word.optional(),
  from: time.optional(),
  to: time.optional(),
});
const seqCursor = z.int().min(1);

/** `/admin/v1/audit-logs`: who changed what, and the proof that nobody changed the record. */
@Controller('admin/v1/audit-logs')
@UseGuards(AdminKeyGuard)
@Roles('auditor')
export class AuditLogsController {
  constructor(
    private readonly trail: AuditTrail,
    private readonly verifyChain: VerifyAuditChain,
  ) {}

  /** Newest first. */
  @Get()
  async list(
    @Query(new ZodPipe(auditQuery)) query: z.infer<typeof auditQuery>,
  ): Promise<Envelope<AdminList<AuditRecord>>> {
    const { cursor, limit, ...filter } = query;
    const before = cursor === undefined ? undefined : decodeCursor(seqCursor, cursor);
    const found = await this.trail.list({ ...filter, before }, limit + 1);
    return ok(
      adminList(
        found,
        limit,
        (one) => one,
        ({ seq }) => encodeCursor(seq),
      ),
    );
  }

  @Get('verify')
  async verify(): Promise<Envelope<ChainVerdict>> {
    return ok(await this.verifyChain.execute());
  }
}
