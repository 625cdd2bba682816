import { createParser } from 'eventsource-parser';
import { RunFailure } from '../run-failure.js';
import { frameFailure, providerErrorIn } from './model-failure.js';

/** Largest answer of one model call, in bytes; far above what a model writes. */
const MAX_ANSWER_BYTES = 64 * 1024 ** 2;
const SNIFFED_BYTES = 4096;

/**
 * fetch for OpenAI-compatible endpoints that misbehave under status 200: an HTML page (a wrong base path), a JSON
 * error in place of the stream, `choices: null`, an answer without end. Redirects are not followed: the key would
 * go along.
 */
export async function guardedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'manual' });
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    throw new RunFailure(
      'provider_bad_request',
      `the model's endpoint answered with a redirect (${response.status}); hermes.llm.base-url is wrong`,
    );
  }
  if (!response.ok || !response.body) return response;
  const contentType = response.headers.get('content-type') ?? '';
  if (!contentType.toLowerCase().includes('text/event-stream')) throw await notAStream(response);
  const frames = response.body.pipeThrough(cleanFrames());
  return new Response(frames, { status: response.status, headers: { 'Content-Type': 'text/event-stream' } });
}

/** Says what came instead of a stream. */
async function notAStream(response: Response): Promise<RunFailure> {
  const beginning = await firstText(response);
  return explain(beginning) ?? new RunFailure('provider_bad_response', 'the answer is not an event stream');
}

function explain(beginning: string): RunFailure | null {
  const text = beginning.trimStart();
  if (text.startsWith('<')) {
    return new RunFailure(
      'provider_bad_response',
      'the answer is an HTML page; hermes.llm.base-url may be wrong (it mostly ends in /v1)',
    );
  }
  if (!text.startsWith('{')) return null;
  const said = providerErrorIn(parsed(text));
  return new RunFailure(
    'provider_bad_response',
    `the answer is a JSON body instead of a stream${said ? `: ${said.message.slice(0, 500)}` : ''}`,
  );
}

async function firstText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= SNIFFED_BYTES) break;
  }
  return text;
}

/** Parses the stream and writes every frame anew, in the one shape the SDK understands. */
function cleanFrames(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let received = 0;
  /** What came before the first frame; null after it. */
  let beginning: string | null = '';
  const frames: string[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      beginning = null;
      if (data.trim() !== '') frames.push(cleanFrame(data));
    },
  });
  const pass = (text: string, controller: TransformStreamDefaultController<Uint8Array>): void => {
    parser.feed(text);
    for (const frame of frames.splice(0)) controller.enqueue(encoder.encode(`data: ${frame}\n\n`));
  };

  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      received += chunk.byteLength;
      if (received > MAX_ANSWER_BYTES) {
        throw new RunFailure('provider_bad_response', `the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
      }
      const text = decoder.decode(chunk, { stream: true });
      if (beginning !== null && beginning.length < SNIFFED_BYTES) beginning += text;
      pass(text, controller);
    },
    flush(controller) {
      // The last frame may lack the blank line that ends it.
      pass(`${decoder.decode()}\n\n`, controller);
      const failure = beginning === null ? null : explain(beginning);
      if (failure) throw failure;
    },
  });
}

/**
 * `choices: null` becomes an empty list, an error in a frame (which the SDK overlooks beside `choices`) is thrown;
 * what is no JSON object is left for the SDK to refuse.
 */
function cleanFrame(data: string): string {
  if (/"error"/.test(data)) {
    const said = providerErrorIn(parsed(data));
    if (said) throw frameFailure(said);
  }
  const line = data.replace(/\r?\n/g, ' ');
  if (!/"choices"\s*:\s*null/.test(line)) return line;
  const frame = parsed(line);
  return typeof frame === 'object' && frame !== null ? JSON.stringify({ ...frame, choices: [] }) : line;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
