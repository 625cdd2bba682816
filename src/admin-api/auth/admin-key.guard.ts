import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AdminRole } from '../../config/app-config.js';
import type { AdminRequest } from './admin-identity.js';
import { AdminKeys } from './admin-keys.js';
import { AdminUnauthorizedError, ForbiddenError } from './auth-errors.js';
import { ROLES } from './roles.decorator.js';

/** Lets only requests through whose `X-Admin-Key` has a role that the route wants. */
@Injectable()
export class AdminKeyGuard implements CanActivate {
  constructor(
    private readonly adminKeys: AdminKeys,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<AdminRequest>();
    const presented = request.headers['x-admin-key'];
    const admin = this.adminKeys.authenticate(typeof presented === 'string' ? presented : undefined);
    if (!admin) throw new AdminUnauthorizedError();
    const targets = [context.getHandler(), context.getClass()];
    const wanted: AdminRole[] = [
      ...(this.reflector.getAllAndOverride<AdminRole[] | undefined>(ROLES, targets) ?? []),
      'admin',
    ];
    if (!wanted.some((role) => admin.roles.includes(role))) throw new ForbiddenError(wanted);
    request.admin = admin;
    return true;
  }
}
