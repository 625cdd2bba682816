import type { BridgeEvent, BridgeRunRequest } from '../../bridge/protocol.js';
import type { Deadlines } from '../http-sse/deadlines.js';
import { readRefusal } from '../http-sse/read-body.js';
import { readEvents } from '../http-sse/read-events.js';
import { sendToProvider, type ProviderAnswer } from '../http-sse/send-to-provider.js';
import { TransportFault } from '../http-sse/transport-fault.js';
import { failureOf, failureOfStatus, RuntimeFault } from '../protocol/failure-classification.js';
import type { BridgeEndpoint } from './bridge-endpoint.js';
import { readBridgeFrame } from './bridge-frame.js';

export type BridgeSign = BridgeEvent | { event: 'heartbeat' };

/**
 * Posts a run to a bridge. Throws RuntimeFault when it refuses or breaks off before it answers (`bridge_lost`),
 * TransportFault when it cannot be reached.
 */
export async function openRun(
  endpoint: BridgeEndpoint,
  body: BridgeRunRequest,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<ProviderAnswer> {
  const answer = await sendToProvider(
    {
      method: 'POST',
      url: `${endpoint.url}/run`,
      headers: { ...headers, accept: 'text/event-stream', authorization: `Bearer ${endpoint.secret}` },
      body,
    },
    signal,
  ).catch((error: unknown) => {
    throw error instanceof TransportFault && error.kind === 'lost' ? lost(error) : error;
  });
  if (answer.status === 200) return answer;
  const { code, message } = refusalIn(await readRefusal(answer));
  throw new RuntimeFault(failureOfStatus(answer.status, code, message));
}

/**
 * The events of an answer up to its end, which is `result` or `error` and comes exactly once; what a bridge says
 * after it is not read. An answer that breaks off or just stops throws RuntimeFault `connect_failed` with code
 * `bridge_lost`, retryable: whatever the bridge was doing ended with it, and only our own bridge may be given the
 * same work again (decision 32).
 */
export async function* readRun(answer: ProviderAnswer, deadlines: Deadlines): AsyncGenerator<BridgeSign> {
  try {
    for await (const item of readEvents(answer, deadlines)) {
      if (item.kind === 'json') throw new TransportFault('malformed', 'the bridge sent JSON, not events');
      if (item.kind === 'heartbeat') {
        yield { event: 'heartbeat' };
        continue;
      }
      const event = readBridgeFrame(item.event, item.data);
      yield event ?? { event: 'heartbeat' };
      if (event?.event === 'result' || event?.event === 'error') return;
    }
  } catch (error) {
    if (error instanceof TransportFault && error.kind === 'lost') throw lost(error);
    throw error;
  } finally {
    answer.close();
  }
  throw lost();
}

function lost(cause?: TransportFault): RuntimeFault {
  const failure = failureOf('connect_failed', 'the bridge was lost before it answered', {
    code: 'bridge_lost',
    retryable: true,
  });
  const fault = new RuntimeFault(failure);
  fault.cause = cause;
  return fault;
}

function refusalIn(body: unknown): { code: string | null; message: string | null } {
  const error =
    typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'object'
      ? (body.error as Record<string, unknown> | null)
      : null;
  const word = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return { code: word(error?.['code']), message: word(error?.['message']) };
}
