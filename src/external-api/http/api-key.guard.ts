import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ApiKeys } from '../../api-keys/index.js';
import { DomainError } from '../../common/errors/domain-error.js';
import { RequestRate } from '../limits/request-rate.js';
import type { CallerRequest } from './caller.js';

/** Thrown for a missing, unknown, expired or revoked key; which of them it is stays untold. */
export class UnauthorizedError extends DomainError {
  readonly code = 'UNAUTHORIZED';
}

/** Lets only requests with a valid `X-API-Key` through that has some of its rate left, and tells whose key it is. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly apiKeys: ApiKeys,
    private readonly requestRate: RequestRate,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<CallerRequest>();
    const presented = request.headers['x-api-key'];
    // Node joins a repeated header with a comma, which no key matches.
    const caller = await this.apiKeys.authenticate(typeof presented === 'string' ? presented : undefined);
    if (!caller) throw new UnauthorizedError('a valid API key is required in the header X-API-Key');
    await this.requestRate.take(caller);
    request.caller = caller;
    return true;
  }
}
