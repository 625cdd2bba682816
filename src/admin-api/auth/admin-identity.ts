import type { Request } from 'express';
import type { AdminRole } from '../../config/app-config.js';

/** Who calls `/admin/v1`: the name of the admin key, which the audit log keeps, and what it may do. */
export interface AdminIdentity {
  readonly name: string;
  readonly roles: readonly AdminRole[];
}

/** A request that `AdminKeyGuard` let through. */
export interface AdminRequest extends Request {
  admin?: AdminIdentity;
}
