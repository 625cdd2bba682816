export { CredentialError } from './credential-error.js';
export { Credentials } from './credentials.js';
export type { CredentialSummary, CredentialUse, ResolvedCredential } from './credentials.js';
export { CredentialsModule } from './credentials.module.js';
export { SecretRedactor, StreamRedactor } from './secret-redactor.js';
