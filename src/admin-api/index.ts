export { adminApiControllers } from './admin-api-controllers.js';
export { AdminApiModule } from './admin-api.module.js';
export {
  AdminAuthModule,
  AdminKeyGuard,
  ChangedBy,
  CurrentAdmin,
  Roles,
  type AdminIdentity,
  type AdminRequest,
} from './auth/index.js';
export { adminApiDocument } from './openapi/admin-api-document.js';
