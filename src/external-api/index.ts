export { ExternalApiModule } from './external-api.module.js';
export { externalApiDocument } from './openapi/external-api-document.js';
