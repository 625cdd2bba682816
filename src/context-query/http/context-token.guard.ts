import {
  createParamDecorator,
  Inject,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { Request } from 'express';
import { APP_CONFIG, type AppConfig } from '../../config/app-config.js';
import { ContextQueryError } from '../queries/context-query-error.js';
import { ContextTokens, type ContextTokenHolder } from '../tokens/context-tokens.js';
import { ContextGate } from './context-gate.js';

const holders = new WeakMap<Request, ContextTokenHolder>();

/** Lets in whoever the gate has admitted and who holds a live token; tells why not in the spec's order. */
@Injectable()
export class ContextTokenGuard implements CanActivate {
  constructor(
    @Inject(APP_CONFIG) private readonly config: AppConfig,
    private readonly tokens: ContextTokens,
    private readonly gate: ContextGate,
  ) {}

  canActivate(context: ExecutionContext): true {
    const request = context.switchToHttp().getRequest<Request>();
    // Nothing gets here past the gate, unless the application was started without it.
    if (!this.gate.isAdmitted(request)) throw new ContextQueryError(404, 'not found');
    if (!this.config.hermes.contextQuery.enabled)
      throw new ContextQueryError(503, 'context queries are disabled');
    const token = request.headers['x-context-token'];
    const holder = typeof token === 'string' ? this.tokens.authenticate(token) : null;
    if (!holder) throw new ContextQueryError(401, 'the context token is missing or not valid');
    holders.set(request, holder);
    return true;
  }
}

/** Whose token the request carries; behind `ContextTokenGuard` only. */
export const TokenHolder = createParamDecorator(
  (_: unknown, context: ExecutionContext): ContextTokenHolder => {
    const holder = holders.get(context.switchToHttp().getRequest<Request>());
    if (!holder) throw new Error('TokenHolder stands on a route without ContextTokenGuard');
    return holder;
  },
);
