import { Controller, Get, Query, UseGuards } from '@nestjs/common';
import { z } from 'zod';
import { AuditTrail, VerifyAuditChain, type AuditRecord, type ChainVerdict } from '../../audit/index.js';
import { ok, ZodPipe, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import { AdminKeyGuard, Roles } from '../auth/index.js';
import { adminList, type AdminList } from '../lists/admin-list.js';
import { decodeCursor, encodeCursor } from '../lists/cursor.js';
import { listAuditLogs, verifyAuditLogs } from '../openapi/operator-operations.js';
import { auditQuery } from './audit-query.js';

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
  @Describe(listAuditLogs)
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

  @Describe(verifyAuditLogs)
  @Get('verify')
  async verify(): Promise<Envelope<ChainVerdict>> {
    return ok(await this.verifyChain.execute());
  }
}
