import { Global, Module } from '@nestjs/common';
import { Credentials } from './credentials.js';
import { SecretRedactor } from './secret-redactor.js';

/** One registry of live secret values for the whole process: what one context reads, every other one redacts. */
@Global()
@Module({
  providers: [SecretRedactor, Credentials],
  exports: [SecretRedactor, Credentials],
})
export class CredentialsModule {}
