import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { AdminIdentity, AdminRequest } from './admin-identity.js';

/** The admin key a request came with: `create(@CurrentAdmin() admin: AdminIdentity)`. */
export const CurrentAdmin = createParamDecorator((_: unknown, context: ExecutionContext): AdminIdentity => {
  const { admin } = context.switchToHttp().getRequest<AdminRequest>();
  if (!admin) throw new Error('the route is not guarded by AdminKeyGuard');
  return admin;
});
