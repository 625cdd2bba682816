import { Controller, Get, UseGuards } from '@nestjs/common';
import { ok, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import { Credentials, type CredentialSummary } from '../../credentials/index.js';
import { AdminKeyGuard, Roles } from '../auth/index.js';
import { listCredentials } from '../openapi/operator-operations.js';

/** `/admin/v1/credentials`: which secrets are configured and usable; never a value. */
@Controller('admin/v1/credentials')
@UseGuards(AdminKeyGuard)
@Roles('viewer', 'auditor')
export class CredentialsController {
  constructor(private readonly credentials: Credentials) {}

  @Describe(listCredentials)
  @Get()
  list(): Envelope<readonly CredentialSummary[]> {
    return ok(this.credentials.list());
  }
}
