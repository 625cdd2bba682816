export { AdminAuthModule } from './admin-auth.module.js';
export type { AdminIdentity, AdminRequest } from './admin-identity.js';
export { AdminKeyGuard } from './admin-key.guard.js';
export { AdminKeys } from './admin-keys.js';
export { AdminUnauthorizedError, ForbiddenError } from './auth-errors.js';
export { ChangedBy } from './changed-by.decorator.js';
export { CurrentAdmin } from './current-admin.decorator.js';
export { Roles, rolesOf } from './roles.decorator.js';
