import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { bearerCheck } from './bearer-check.js';
import type { BridgeLogger } from './bridge-logger.js';
import type { BridgeSettings } from './bridge-settings.js';
import { EventStream } from './event-stream.js';
import { BodyEncodingError, BodyTooLargeError, readBody } from './read-body.js';
import { MAX_BODY_BYTES, parseRunRequest } from './run-request.js';
import { runVisit } from './run-visit.js';

/** The protocol asks for one every 15 s at most. */
const HEARTBEAT_MILLIS = 5_000;

/** The bridge protocol of contract.md over node:http: `POST /run` and `GET /health`. */
export function createBridgeServer(
  settings: BridgeSettings,
  logger: BridgeLogger,
  { heartbeatMillis = HEARTBEAT_MILLIS }: { heartbeatMillis?: number } = {},
): Server {
  const isAuthorized = bearerCheck(settings.secret);
  let active = 0;

  const run = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request, MAX_BODY_BYTES);
    const parsed = parseRunRequest(body);
    if (!parsed.ok) {
      refuse(response, 400, 'provider_bad_request', parsed.message);
      return;
    }
    const disconnected = new AbortController();
    response.once('close', () => disconnected.abort(new Error('the client has gone')));
    const secrets = [settings.secret, settings.llm?.apiKey ?? '', parsed.request.context_query?.token ?? ''];
    const stream = new EventStream(response, { secrets, heartbeatMillis });
    active += 1;
    try {
      const emit = stream.send.bind(stream);
      await runVisit(parsed.request, { settings, logger, emit, disconnected: disconnected.signal });
    } finally {
      active -= 1;
      stream.close();
    }
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split('?', 1)[0];
    if (!isAuthorized(request.headers.authorization)) {
      refuse(response, 401, 'auth_failed', 'the bearer token is missing or wrong');
    } else if (path === '/health') {
      if (request.method === 'GET') respond(response, 200, { status: 'ok', active });
      else refuse(response, 405, 'provider_bad_request', 'only GET');
    } else if (path === '/run') {
      if (request.method === 'POST') await run(request, response);
      else refuse(response, 405, 'provider_bad_request', 'only POST');
    } else {
      refuse(response, 404, 'provider_bad_request', 'there is only POST /run and GET /health');
    }
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (error instanceof BodyTooLargeError) {
        refuse(response, 413, 'provider_bad_request', error.message);
      } else if (error instanceof BodyEncodingError) {
        refuse(response, 400, 'provider_bad_request', error.message);
      } else if (!request.destroyed || !response.destroyed) {
        logger.error({ err: error }, 'a request to the bridge failed');
        if (response.headersSent) response.destroy();
        else refuse(response, 500, 'internal_error', 'the bridge failed; its log says why');
      }
    });
  });
  // Nothing is slow on loopback; an agent's answer takes as long as it takes.
  server.headersTimeout = 10_000;
  server.requestTimeout = 60_000;
  return server;
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  respond(response, status, { error: { code, message } });
}

function respond(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent || response.destroyed) return;
  // A body that was not read to its end must not be taken for the next request.
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', Connection: 'close' });
  response.end(JSON.stringify(body));
}
