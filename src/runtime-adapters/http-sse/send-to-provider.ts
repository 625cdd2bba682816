import {
  request as requestHttp,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { TransportFault } from './transport-fault.js';

/** How long a provider may take to accept a connection. */
const CONNECT_MS = 10_000;

export interface ProviderRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface ProviderAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The media type in lower case, without parameters; empty when there is none. */
  readonly contentType: string;
  /** The body as it comes; ends in a TransportFault when the connection breaks or the signal aborts. */
  readonly chunks: AsyncIterable<Buffer>;
  /** Closes the connection. */
  close(): void;
}

/**
 * Sends one request on a connection of its own, so that a failure tells whether the provider can have seen it: a
 * pooled connection may break after a request was written into it. Follows no redirect, which would carry the
 * credential to another host, and takes no compressed answer, whose size nobody knows beforehand.
 *
 * @param onConnected called when the request begins to leave: from then on the provider may have it.
 * @throws TransportFault
 */
export function sendToProvider(
  call: ProviderRequest,
  signal: AbortSignal,
  onConnected: () => void = () => undefined,
): Promise<ProviderAnswer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(faultOf(signal));
      return;
    }
    const url = new URL(call.url);
    const body = call.body === undefined ? null : Buffer.from(JSON.stringify(call.body));
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const outgoing = send(url, {
      method: call.method,
      agent: false,
      headers: {
        ...call.headers,
        'accept-encoding': 'identity',
        connection: 'close',
        ...(body ? { 'content-type': 'application/json', 'content-length': String(body.length) } : {}),
      },
    });
    let connected = false;
    watchConnection(outgoing, url.protocol === 'https:', () => {
      connected = true;
      onConnected();
    });
    const onAbort = (): void => {
      outgoing.destroy(faultOf(signal));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    outgoing.once('close', () => {
      signal.removeEventListener('abort', onAbort);
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      reject(faultOfError(error, connected));
    });
    outgoing.once('response', (incoming) => {
      const encoding = incoming.headers['content-encoding'];
      if (encoding !== undefined && encoding !== 'identity') {
        outgoing.destroy();
        reject(new TransportFault('malformed', 'the provider answered with a compressed body'));
        return;
      }
      resolve({
        status: incoming.statusCode ?? 0,
        headers: incoming.headers,
        contentType: (incoming.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '',
        chunks: chunksOf(incoming, signal),
        close: () => {
          outgoing.destroy();
        },
      });
    });
    outgoing.end(body ?? undefined);
  });
}

function watchConnection(outgoing: ClientRequest, secure: boolean, onConnected: () => void): void {
  outgoing.once('socket', (socket: Socket) => {
    const timer = setTimeout(() => {
      outgoing.destroy(
        new TransportFault('connect_failed', `no connection within ${String(CONNECT_MS / 1000)} s`),
      );
    }, CONNECT_MS);
    socket.once('close', () => {
      clearTimeout(timer);
    });
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      onConnected();
    });
  });
}

async function* chunksOf(incoming: IncomingMessage, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of incoming) yield chunk as Buffer;
  } catch (error) {
    throw signal.aborted ? faultOf(signal) : faultOfError(error as NodeJS.ErrnoException, true);
  } finally {
    incoming.destroy();
  }
  if (signal.aborted) throw faultOf(signal);
}

function faultOf(signal: AbortSignal): TransportFault {
  const reason: unknown = signal.reason;
  return reason instanceof TransportFault ? reason : new TransportFault('aborted', 'the call was cancelled');
}

function faultOfError(error: NodeJS.ErrnoException, connected: boolean): TransportFault {
  if (error instanceof TransportFault) return error;
  const code = error.code ?? 'unknown error';
  if (!connected) return new TransportFault('connect_failed', `no connection to the provider (${code})`);
  if (code.startsWith('HPE_')) return new TransportFault('malformed', `the provider broke HTTP (${code})`);
  return new TransportFault('lost', `the connection to the provider broke (${code})`);
}
