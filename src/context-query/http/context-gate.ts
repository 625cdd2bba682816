import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { isDirectLocalPeer } from './is-direct-local-peer.js';

const CONTEXT_PATH = /^\/internal\/context(?=\/|$)/i;

/**
 * Decides, before anything else looks at a request, whether `/internal/context` exists for it. Whoever it does not
 * exist for meets an unknown route, in every byte (decision 25).
 */
export class ContextGate {
  /** No route has this path, and nobody can guess it. */
  readonly #nowhere = `/${randomUUID()}`;
  readonly #admitted = new WeakSet<IncomingMessage>();
  readonly #throughOwnListener = new WeakSet<IncomingMessage>();

  /** `ownListener`: the endpoints have a listener of their own and are not on the main one. */
  constructor(private readonly ownListener: boolean) {}

  /** To be called for each request of the endpoints' own listener, before the middleware. */
  markOwnListener(request: IncomingMessage): void {
    this.#throughOwnListener.add(request);
  }

  isAdmitted(request: IncomingMessage): boolean {
    return this.#admitted.has(request);
  }

  readonly middleware = (request: Request, _response: Response, next: NextFunction): void => {
    const wantsContext = CONTEXT_PATH.test(request.path);
    const onOwnListener = this.#throughOwnListener.has(request);
    if (wantsContext && onOwnListener === this.ownListener && isDirectLocalPeer(request)) {
      this.#admitted.add(request);
    } else if (wantsContext || onOwnListener) {
      request.url = this.#nowhere;
    }
    next();
  };
}
