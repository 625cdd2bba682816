import {
  AddressRefusedError,
  HostNotFoundError,
  RequestTimeoutError,
  ResponseTooLargeError,
  type GuardedResponse,
  type ResolveHost,
} from '../../common/net/index.js';
import { fetchFollowing, RedirectError, type OutgoingRequest } from './http/follow-redirects.js';
import { excerpt, readResponse } from './http/read-response.js';
import { renderRequest } from './http/render-request.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';
import { NodeFailure } from './node-failure.js';

const MAX_RESPONSE_BYTES = 10 * 1024 ** 2;

export interface HttpRules {
  /** `host` or `host:port` of internal addresses that may be asked: `engine.http.allowed-hosts`. */
  readonly allowedHosts: readonly string[];
  /** Replaced in tests. */
  readonly resolve?: ResolveHost;
  /** Default: 10 MB, also once decompressed. */
  readonly maxResponseBytes?: number;
}

/**
 * `http`: one request, to public addresses and allowed hosts only, each redirect checked anew; `{status, headers,
 * body}`. A status from 400 on fails; 408, 429, 5xx and a broken connection are retryable.
 */
export class HttpExecutor implements NodeExecutor {
  readonly type = 'http';

  constructor(private readonly rules: HttpRules) {}

  async execute({ node, scope, timeoutSeconds }: NodeVisit, signal: AbortSignal): Promise<NodeResult> {
    const request = await renderRequest(node.data, scope);
    const maxResponseBytes = this.rules.maxResponseBytes ?? MAX_RESPONSE_BYTES;
    const options = { ...this.rules, maxResponseBytes, timeoutMs: timeoutSeconds * 1000, signal };
    try {
      const response = await fetchFollowing(request, options);
      if (response.status >= 400) throw statusFailure(request, response);
      return { kind: 'completed', data: await readResponse(response, maxResponseBytes) };
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error, request);
    }
  }
}

function statusFailure(request: OutgoingRequest, response: GuardedResponse): NodeFailure {
  const { status } = response;
  const said = excerpt(response);
  const message = `${shown(request)} answered ${status}${said ? `: ${said}` : ''}`;
  return new NodeFailure('HTTP_STATUS', message, {
    retryable: status === 408 || status === 429 || status >= 500,
  });
}

function failureOf(error: unknown, request: OutgoingRequest): unknown {
  if (error instanceof NodeFailure || !(error instanceof Error)) return error;
  const message = `${shown(request)}: ${error.message}`;
  if (error instanceof AddressRefusedError) return new NodeFailure('HTTP_REFUSED', message, { cause: error });
  if (error instanceof RedirectError) return new NodeFailure('HTTP_REDIRECT', message, { cause: error });
  if (error instanceof ResponseTooLargeError)
    return new NodeFailure('HTTP_TOO_LARGE', message, { cause: error });
  if (error instanceof RequestTimeoutError || error instanceof HostNotFoundError) {
    return new NodeFailure('HTTP_CONNECTION', message, { retryable: true, cause: error });
  }
  return new NodeFailure('HTTP_CONNECTION', message, { retryable: isTransient(error), cause: error });
}

/** A connection that broke or was refused may hold next time; a certificate or broken HTTP stays what it is. */
function isTransient(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return /^(?:ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|EAI_AGAIN|EADDRNOTAVAIL|ERR_STREAM_PREMATURE_CLOSE)/.test(
    code,
  );
}

/** Without the query, which may hold a key. */
function shown({ method, url }: OutgoingRequest): string {
  return `${method} ${url.origin}${url.pathname}`;
}
