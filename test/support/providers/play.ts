import type { ServerResponse } from 'node:http';

/** How a stub answers one request, down to the pieces on the wire. Without anything: 200 and an empty event stream. */
export interface Play {
  /** What it does instead of answering. */
  readonly instead?: 'reset' | 'silence';
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Written one after another, each in a segment of its own. */
  readonly pieces?: readonly (string | Buffer)[];
  /**
   * What comes after the pieces; `trickle` sends a byte at a time and never a line's end, `pings` signs of life for
   * ever.
   */
  readonly then?: 'end' | 'reset' | 'silence' | 'trickle' | 'pings';
}

const EVERY_MILLIS = 5;

/** An answer as one JSON body. */
export function json(status: number, body: unknown): Play {
  return { status, headers: { 'content-type': 'application/json' }, pieces: [JSON.stringify(body)] };
}

/** What a gateway shows to a person. */
export function htmlPage(status: number): Play {
  const page =
    '<!DOCTYPE html>\n<html><head><title>504 Gateway Time-out</title></head><body>nginx</body></html>';
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, pieces: [page] };
}

/** The frames, cut after every byte. */
export function everyByte(frames: readonly string[]): Buffer[] {
  const whole = Buffer.from(frames.join(''));
  return Array.from(whole, (_byte, at) => whole.subarray(at, at + 1));
}

export function dataFrame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

export async function perform(play: Play, response: ServerResponse): Promise<void> {
  if (play.instead === 'silence') return;
  if (play.instead === 'reset') {
    reset(response);
    return;
  }
  response.writeHead(play.status ?? 200, { 'content-type': 'text/event-stream', ...play.headers });
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  for (const piece of play.pieces ?? []) {
    if (response.destroyed) return;
    await written(response, piece);
  }
  switch (play.then ?? 'end') {
    case 'end':
      response.end();
      return;
    case 'reset':
      reset(response);
      return;
    case 'silence':
      return;
    case 'trickle':
      repeat(response, 'd');
      return;
    case 'pings':
      repeat(response, ': PING\n\nevent: ping\n\n');
  }
}

/** Resolves when the piece has been handed to the kernel, so that the next one is a segment of its own. */
function written(response: ServerResponse, piece: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    response.write(piece, () => {
      setImmediate(resolve);
    });
  });
}

function repeat(response: ServerResponse, text: string): void {
  const timer = setInterval(() => {
    response.write(text);
  }, EVERY_MILLIS);
  response.on('close', () => {
    clearInterval(timer);
  });
}

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}
