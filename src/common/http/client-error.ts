import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { errorEnvelope } from './envelope.js';

/** Node's parser gives up before there is a request; its caller still gets the envelope. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, message] = describe(error.code);
  const body = JSON.stringify(errorEnvelope('VALIDATION_FAILED', message));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function describe(code: string | undefined): readonly [number, string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'the headers of the request are too large'];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'the request took too long'];
  return [400, 'the request is not valid HTTP'];
}
