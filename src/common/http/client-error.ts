import type { Socket } from 'node:net';
import { rawAnswer } from './raw-answer.js';

/** Node's parser gives up before there is a request; its caller still gets the envelope. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, message] = describe(error.code);
  socket.end(rawAnswer(status, 'VALIDATION_FAILED', message));
}

function describe(code: string | undefined): readonly [number, string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'the headers of the request are too large'];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'the request took too long'];
  return [400, 'the request is not valid HTTP'];
}
