import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { ApiKeyIdentity } from '../../api-keys/index.js';

/** A request that `ApiKeyGuard` let through. */
export interface CallerRequest extends Request {
  caller?: ApiKeyIdentity;
}

/** The key a request came with: `list(@Caller() caller: ApiKeyIdentity)`. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext): ApiKeyIdentity => {
  const { caller } = context.switchToHttp().getRequest<CallerRequest>();
  if (!caller) throw new Error('the route is not guarded by ApiKeyGuard');
  return caller;
});
