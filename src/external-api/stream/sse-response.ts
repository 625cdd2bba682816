import type { ServerResponse } from 'node:http';
import type { FrameSink } from '../../events/tail-reader.js';

/**
 * Headers of every stream (decision 12). `no-transform` keeps compressors away, `X-Accel-Buffering` tells nginx
 * not to collect the answer.
 */
const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Clients wait that long before they reconnect. */
const RETRY = 'retry: 3000\n\n';

/** Opens the stream at once, so that the client knows it is connected before the first event. */
export function openEventStream(response: ServerResponse, headers: Record<string, string> = {}): FrameSink {
  // A client that leaves in mid-write is no error of ours; without a listener it would end the process.
  response.on('error', () => undefined);
  response.writeHead(200, { ...HEADERS, ...headers });
  response.write(RETRY);
  return {
    write: (bytes) => response.write(bytes),
    onDrain: (listener) => response.on('drain', listener),
    end: () => {
      if (!response.writableEnded) response.end();
    },
    destroy: () => response.destroy(),
  };
}
