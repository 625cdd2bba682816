export { ExternalApiModule } from './external-api.module.js';
