import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { deadline } from '../time/deadline.js';
import { resolveGuarded, type AddressRules, type HostAddress } from './address-guard.js';

export interface GuardedRequest extends AddressRules {
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Buffer;
  /** For the whole exchange, in milliseconds. */
  timeoutMs: number;
  /** Bytes of the answer's body that are taken. */
  maxResponseBytes: number;
  /** What becomes of a longer answer: an error (the default), or its beginning. */
  longResponse?: 'fail' | 'cut';
  signal?: AbortSignal;
}

export interface GuardedResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Thrown when an answer is longer than the request allows. */
export class ResponseTooLargeError extends Error {
  constructor(readonly maxBytes: number) {
    super(`the answer is longer than ${maxBytes} bytes`);
    this.name = 'ResponseTooLargeError';
  }
}

/** Thrown when the exchange took longer than `timeoutMs`. */
export class RequestTimeoutError extends Error {
  constructor(readonly timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`);
    this.name = 'RequestTimeoutError';
  }
}

/**
 * One HTTP request to a URL that somebody outside named. It goes only to addresses that `resolveGuarded` allows,
 * on a connection of its own, and follows no redirect: a 3xx answer is returned as it is. Throws
 * AddressRefusedError, HostNotFoundError, RequestTimeoutError, ResponseTooLargeError, the signal's reason, or the
 * network's error.
 */
export async function guardedFetch(url: URL, request: GuardedRequest): Promise<GuardedResponse> {
  const { signal, hasPassed, close } = deadline(request.timeoutMs, request.signal);
  try {
    signal.throwIfAborted();
    const addresses = await abortable(resolveGuarded(url, request), signal);
    return await exchange(url, request, addresses, signal);
  } catch (error) {
    if (request.signal?.aborted) throw request.signal.reason;
    if (hasPassed()) throw new RequestTimeoutError(request.timeoutMs);
    throw error;
  } finally {
    close();
  }
}

function exchange(
  url: URL,
  { method = 'GET', headers, body, maxResponseBytes, longResponse = 'fail' }: GuardedRequest,
  addresses: readonly HostAddress[],
  signal: AbortSignal,
): Promise<GuardedResponse> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? https.request : http.request;
    const outgoing = send(url, { method, headers, signal, agent: false, lookup: pinned(addresses) });
    outgoing.once('error', reject);
    // Without a listener Node drops such an answer, and the exchange would wait until its time is over.
    outgoing.once('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new Error('the server switched to another protocol, which nobody asked for'));
    });
    outgoing.once('response', (response) => {
      readBody(response, maxResponseBytes, longResponse).then(
        (read) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: read }),
        reject,
      );
    });
    outgoing.end(body);
  });
}

/** Answers every look-up of the connection with the addresses that have been checked. */
function pinned(addresses: readonly HostAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const wanted = addresses.filter(({ family }) => !options.family || options.family === family);
    const [first] = wanted;
    if (options.all) callback(null, wanted);
    else if (first) callback(null, first.address, first.family);
    else callback(new Error('the host has no address of this family'), '', 0);
  };
}

async function readBody(
  response: IncomingMessage,
  maxBytes: number,
  longResponse: 'fail' | 'cut',
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes <= maxBytes) continue;
    // Leaving the loop destroys the response and its connection.
    if (longResponse === 'fail') throw new ResponseTooLargeError(maxBytes);
    break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

/** The look-up itself cannot be aborted; its answer is then ignored. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
