import { createParser } from 'eventsource-parser';
import { parseJsonOr } from './read-body.js';
import type { ProviderAnswer } from './send-to-provider.js';
import { TransportFault } from './transport-fault.js';

/** The largest frame, in characters: 5 MB of payload and the words around it. */
export const MAX_FRAME_CHARS = 5 * 1024 * 1024 + 64 * 1024;
/** The largest stream. */
const MAX_STREAM_BYTES = 128 * 1024 * 1024;
/** Without a line's end, so many bytes count as a sign of life; fewer are a trickle (slow loris). */
const PROGRESS_BYTES = 1024;

export type StreamItem =
  /** `event` is the name in the frame, null where it has none; `data` its payload as it came. */
  | { kind: 'frame'; event: string | null; data: string }
  /** The stream is no event stream but one JSON text: mostly an error under status 200. */
  | { kind: 'json'; value: unknown }
  /** A comment, a ping without data, or a part of a long frame. */
  | { kind: 'heartbeat' };

/**
 * Reads a provider's event stream, split anywhere, also within a character. The content type is not believed: HTML
 * and JSON under `text/event-stream` are seen by their first character. A stream that just ends is no error here:
 * whether it was complete, only its terminal event tells.
 *
 * @throws TransportFault
 */
export async function* readEvents(
  answer: ProviderAnswer,
  deadlines: { progress(): void },
): AsyncGenerator<StreamItem> {
  if (answer.contentType === 'text/html') throw htmlFault(answer);
  const decoder = new TextDecoder();
  const frames = new FrameReader();
  let start = '';
  let form: 'unknown' | 'events' | 'json' = 'unknown';
  let bytes = 0;
  let sinceProgress = 0;
  for await (const chunk of answer.chunks) {
    bytes += chunk.length;
    sinceProgress += chunk.length;
    if (bytes > MAX_STREAM_BYTES) throw tooLarge(answer, 'the stream');
    const isProgress = sinceProgress >= PROGRESS_BYTES || chunk.includes(10) || chunk.includes(13);
    if (isProgress) {
      deadlines.progress();
      sinceProgress = 0;
    }
    let text = decoder.decode(chunk, { stream: true });
    if (form !== 'events') {
      start += text;
      if (form === 'unknown') form = formOf(start, answer);
      if (start.length > MAX_FRAME_CHARS) throw tooLarge(answer, 'the answer');
      if (form !== 'events') continue;
      text = start;
      start = '';
    }
    const found = frames.read(text);
    if (found === null) throw tooLarge(answer, 'a frame');
    for (const frame of found) yield frame;
    if (found.length === 0 && isProgress) yield { kind: 'heartbeat' };
  }
  const rest = decoder.decode();
  if (form === 'events') {
    for (const frame of frames.end(rest)) yield frame;
    return;
  }
  if (form === 'json') {
    const value = parseJsonOr(start + rest, undefined);
    if (value === undefined)
      throw new TransportFault('malformed', 'the answer is neither JSON nor an event stream');
    yield { kind: 'json', value };
  }
}

class FrameReader {
  #found: StreamItem[] = [];
  #tooLarge = false;
  readonly #parser = createParser({
    maxBufferSize: MAX_FRAME_CHARS,
    onEvent: ({ event, data }) => this.#found.push({ kind: 'frame', event: event ?? null, data }),
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') this.#tooLarge = true;
    },
  });

  /** The frames that `text` completes; null when one is too large. */
  read(text: string): StreamItem[] | null {
    this.#found = [];
    this.#parser.feed(text);
    return this.#tooLarge ? null : this.#found;
  }

  /** A last frame whose blank line never came counts when its JSON is whole; a cut one says nothing. */
  end(rest: string): StreamItem[] {
    const last = this.read(`${rest}\n\n`) ?? [];
    return last.filter((item) => item.kind === 'frame' && isWhole(item.data));
  }
}

function isWhole(data: string): boolean {
  return data === '[DONE]' || parseJsonOr(data, undefined) !== undefined;
}

function formOf(start: string, answer: ProviderAnswer): 'unknown' | 'events' | 'json' {
  const first = start.trimStart()[0];
  if (first === undefined) return 'unknown';
  if (first === '<') throw htmlFault(answer);
  return first === '{' || first === '[' ? 'json' : 'events';
}

function htmlFault(answer: ProviderAnswer): TransportFault {
  answer.close();
  return new TransportFault(
    'malformed',
    'the answer is a web page: check the base URL and what stands before it',
  );
}

function tooLarge(answer: ProviderAnswer, what: string): TransportFault {
  answer.close();
  return new TransportFault('too_large', `${what} passes its limit of size`);
}
