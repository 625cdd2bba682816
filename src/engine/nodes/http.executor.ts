import {
  AddressRefusedError,
  HostNotFoundError,
  RequestTimeoutError,
  ResponseTooLargeError,
  type GuardedResponse,
  type ResolveHost,
} from '../../common/net/index.js';
import { errorCode } from './http/error-code.js';
import { fetchFollowing, RedirectError, type OutgoingRequest } from './http/follow-redirects.js';
import { excerpt, readResponse } from './http/read-response.js';
import { renderRequest, type HttpData } from './http/render-request.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';
import { NodeFailure, type NodeFailureCode } from './node-failure.js';

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
    const request = await renderRequest(node.data as unknown as HttpData, scope);
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
  if (error instanceof NodeFailure) return error;
  const failure = (code: NodeFailureCode, retryable: boolean): NodeFailure => {
    const said = error instanceof Error ? error.message : '';
    // Where several addresses were tried, the error is one of many and says nothing itself.
    const why = said === '' ? `the connection failed (${errorCode(error)})` : said;
    return new NodeFailure(code, `${shown(request)}: ${why}`, { retryable, cause: error });
  };
  if (error instanceof AddressRefusedError) return failure('HTTP_REFUSED', false);
  if (error instanceof RedirectError) return failure('HTTP_REDIRECT', false);
  if (error instanceof ResponseTooLargeError) return failure('HTTP_TOO_LARGE', false);
  if (error instanceof RequestTimeoutError || error instanceof HostNotFoundError) {
    return failure('HTTP_CONNECTION', true);
  }
  return failure('HTTP_CONNECTION', TRANSIENT.test(errorCode(error)));
}

/** A connection that broke or was refused may hold next time; a certificate or broken HTTP stays what it is. */
const TRANSIENT = /^(?:ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|EAI_AGAIN|EADDRNOTAVAIL|ERR_STREAM_PREMATURE_CLOSE)/;

/** Without the query, which may hold a key. */
function shown({ method, url }: OutgoingRequest): string {
  return `${method} ${url.origin}${url.pathname}`;
}
