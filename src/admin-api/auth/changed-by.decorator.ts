import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { AuditEntry } from '../../audit/index.js';
import { requestId } from '../../common/http/index.js';
import type { AdminRequest } from './admin-identity.js';

/** Who asks for a change, and with which request, as the audit log keeps it. */
export const ChangedBy = createParamDecorator(
  (_: unknown, context: ExecutionContext): Pick<AuditEntry, 'actor' | 'correlationId'> => {
    const request = context.switchToHttp().getRequest<AdminRequest>();
    if (!request.admin) throw new Error('the route is not guarded by AdminKeyGuard');
    return { actor: { kind: 'admin-key', name: request.admin.name }, correlationId: requestId(request) };
  },
);
