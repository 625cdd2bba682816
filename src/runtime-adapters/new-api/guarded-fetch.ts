import type { Deadlines } from '../http-sse/deadlines.js';
import { parseJsonOr, readRefusal } from '../http-sse/read-body.js';
import { readEvents } from '../http-sse/read-events.js';
import { sendToProvider, type ProviderAnswer } from '../http-sse/send-to-provider.js';
import { TransportFault } from '../http-sse/transport-fault.js';
import { failureOf, RuntimeFault } from '../protocol/failure-classification.js';
import { postAgain } from '../protocol/post-again.js';
import { cleanChunk, type CleanChunk, type CleanUsage } from './new-api-chunk.js';
import { errorIn, mayPostAgain, refusalFailure, runFailure } from './new-api-failure.js';

/** What the guard saw beside the text that the model client reads. */
export interface GuardedCall {
  readonly fetch: typeof fetch;
  readonly seen: {
    requestId: string | null;
    usage: CleanUsage | null;
    isFinished: boolean;
    /** What ended the call: the client wraps it into errors of its own. */
    fault: unknown;
  };
}

/**
 * A `fetch` for the OpenAI-compatible client. The client alone would turn an HTML page, an error frame and a cut
 * stream into an empty answer that looks like success; so every frame passes here first, and only a stream that
 * names its `finish_reason` ends well. The client sees clean chunks, or a RuntimeFault or TransportFault.
 */
export function guardedFetch(
  deadlines: Deadlines,
  policy: { maxAttempts: number; backoffMs: number },
): GuardedCall {
  const seen: GuardedCall['seen'] = { requestId: null, usage: null, isFinished: false, fault: null };
  const send = async (url: string, init: RequestInit): Promise<ProviderAnswer> => {
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined;
    const headers = Object.fromEntries(new Headers(init.headers).entries());
    const answer = await sendToProvider({ method: 'POST', url, headers, body }, deadlines.signal);
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw new RuntimeFault(refusalFailure(answer.status, await readRefusal(answer)));
  };
  return {
    seen,
    fetch: async (input, init = {}) => {
      const url = input instanceof Request ? input.url : String(input);
      const posted = postAgain(() => send(url, init), { ...policy, mayPostAgain }, deadlines.signal);
      const answer = await remembering(seen, () => posted);
      const requestId = answer.headers['x-oneapi-request-id'];
      if (typeof requestId === 'string' && /^[\x21-\x7e]{1,200}$/.test(requestId)) seen.requestId = requestId;
      const frames = ReadableStream.from(encoded(cleanFrames(answer, deadlines, seen), seen));
      return new Response(frames, { status: 200, headers: { 'content-type': 'text/event-stream' } });
    },
  };
}

async function* encoded(
  frames: AsyncGenerator<CleanChunk>,
  seen: GuardedCall['seen'],
): AsyncGenerator<Uint8Array> {
  for (;;) {
    const next = await remembering(seen, () => frames.next());
    if (next.done) return;
    yield Buffer.from(`data: ${JSON.stringify(next.value)}\n\n`);
  }
}

async function remembering<T>(seen: GuardedCall['seen'], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    seen.fault = error;
    throw error;
  }
}

async function* cleanFrames(
  answer: ProviderAnswer,
  deadlines: Deadlines,
  seen: GuardedCall['seen'],
): AsyncGenerator<CleanChunk> {
  let saidDone = false;
  try {
    for await (const item of readEvents(answer, deadlines)) {
      if (item.kind === 'heartbeat') continue;
      if (item.kind === 'frame' && item.data.trim() === '[DONE]') {
        saidDone = true;
        break;
      }
      const chunk = checkedChunk(item.kind === 'json' ? item.value : parseJsonOr(item.data, undefined));
      const clean = seen.isFinished ? { ...chunk, choices: [] } : chunk;
      if (chunk.choices.some(({ finish_reason }) => finish_reason !== null)) seen.isFinished = true;
      if (chunk.usage) seen.usage = chunk.usage;
      yield clean;
    }
  } catch (error) {
    // The answer was whole: only its usage or the closing words got lost.
    if (!(seen.isFinished && error instanceof TransportFault && error.kind !== 'aborted')) throw error;
  } finally {
    answer.close();
  }
  if (seen.isFinished) return;
  if (!saidDone) throw new TransportFault('lost', 'the stream ended before the answer did');
  throw new RuntimeFault(
    failureOf('provider_bad_response', 'New-API said [DONE], but the answer was not finished', {
      code: 'incomplete',
    }),
  );
}

function checkedChunk(value: unknown): CleanChunk {
  const error = errorIn(value);
  if (error) throw new RuntimeFault(runFailure(error));
  const chunk = cleanChunk(value);
  if (!chunk) throw new TransportFault('malformed', 'a frame is no chunk of a chat completion');
  return chunk;
}
