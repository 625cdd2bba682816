import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerClientError } from './client-error.js';
import { rawAnswer } from './raw-answer.js';
import { headProblem } from './request-head.js';

/** A peer that keeps its half of a refused connection open loses it after that long. */
const LINGER_MILLIS = 1_000;

/**
 * Lets the application answer what Node would answer by itself, without the envelope: unknown expectations, a missing
 * Host (both are refused by `refuseUnsoundHead`), CONNECT, and what is no HTTP.
 */
export function guardServer(server: Server): void {
  server.on('clientError', answerClientError);
  server.on('connect', refuseTunnel);
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    server.emit('request', request, response);
  };
  server.on('checkExpectation', handle);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (!headProblem(request)) response.writeContinue();
    handle(request, response);
  });
  // An option of createServer, which Nest calls without it.
  Object.assign(server, { requireHostHeader: false });
}

function refuseTunnel(_request: IncomingMessage, socket: Socket): void {
  socket.on('error', () => socket.destroy());
  socket.setTimeout(LINGER_MILLIS, () => socket.destroy());
  // What came after the head is taken: closing over unread bytes could take the answer away from its reader.
  socket.resume();
  const allow = { Allow: 'GET, HEAD, POST, PUT, DELETE' };
  socket.end(rawAnswer(405, 'METHOD_NOT_ALLOWED', 'the server is no proxy: it takes no CONNECT', allow));
}
