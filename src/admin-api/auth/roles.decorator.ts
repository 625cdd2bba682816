import { SetMetadata, type Type } from '@nestjs/common';
import type { AdminRole } from '../../config/app-config.js';

export const ROLES = 'admin-roles';

/**
 * Roles that may call a route, each by itself; `admin` always may. A route without `@Roles` is for `admin` alone.
 * `viewer` reads all but audit, calls and usage, `auditor` reads everything (contract.md, "Development defaults").
 */
export const Roles = (...roles: readonly Exclude<AdminRole, 'admin'>[]) => SetMetadata(ROLES, roles);

/** The roles that `@Roles` gives to a route, apart from `admin`: its own, else its controller's. */
export function rolesOf(handler: object, controller: Type): readonly AdminRole[] {
  const roles: unknown = Reflect.getMetadata(ROLES, handler) ?? Reflect.getMetadata(ROLES, controller);
  return (roles ?? []) as readonly AdminRole[];
}
