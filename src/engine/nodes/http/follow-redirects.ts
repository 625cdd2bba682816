import { guardedFetch, type GuardedRequest, type GuardedResponse } from '../../../common/net/index.js';

/** Redirects of one request that are followed. */
export const MAX_REDIRECTS = 5;

/** Headers that prove who asks: they do not go along to another origin. */
const CREDENTIAL_HEADER =
  /^(?:authorization|proxy-authorization|cookie)$|token|secret|signature|api-?key|auth/i;

export interface OutgoingRequest {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string>>;
  /** Bytes: Node would write the headers in the encoding of a text. */
  body: Buffer | undefined;
}

/** Thrown when a redirect cannot be followed. */
export class RedirectError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'RedirectError';
  }
}

/**
 * `guardedFetch` that follows redirects as browsers do. Every target is checked anew; another origin gets no
 * credentials. Throws RedirectError and what `guardedFetch` throws; `timeoutMs` is for everything together.
 */
export async function fetchFollowing(
  request: OutgoingRequest,
  options: Omit<GuardedRequest, 'method' | 'headers' | 'body'>,
): Promise<GuardedResponse> {
  const endsAt = performance.now() + options.timeoutMs;
  let current = request;
  for (let redirects = 0; ; redirects += 1) {
    const { url, ...parts } = current;
    const timeoutMs = Math.max(1, Math.ceil(endsAt - performance.now()));
    const response = await guardedFetch(url, { ...options, ...parts, timeoutMs });
    const target = redirectTarget(response, url);
    if (!target) return response;
    if (redirects === MAX_REDIRECTS) throw new RedirectError(`more than ${MAX_REDIRECTS} redirects`);
    current = redirected(current, response.status, target);
  }
}

function redirectTarget({ status, headers }: GuardedResponse, from: URL): URL | null {
  if (![301, 302, 303, 307, 308].includes(status) || headers.location === undefined) return null;
  // Node gives header bytes as Latin-1; a path may hold raw UTF-8.
  const location = Buffer.from(headers.location, 'latin1').toString('utf8');
  if (!URL.canParse(location, from.href)) throw new RedirectError('a redirect to something that is no URL');
  return new URL(location, from);
}

function redirected(request: OutgoingRequest, status: number, target: URL): OutgoingRequest {
  let { method, body } = request;
  let headers = Object.entries(request.headers);
  const becomesGet = (status === 303 && method !== 'HEAD') || (status <= 302 && method === 'POST');
  if (becomesGet) {
    method = 'GET';
    body = undefined;
    headers = headers.filter(([name]) => !/^content-/i.test(name));
  }
  if (target.origin !== request.url.origin) {
    headers = headers.filter(([name]) => !CREDENTIAL_HEADER.test(name));
  }
  return { method, body, url: target, headers: Object.fromEntries(headers) };
}
