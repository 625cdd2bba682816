import type { ResolvedCredential } from '../../credentials/index.js';
import { readRefusal } from '../http-sse/read-body.js';
import { sendToProvider, type ProviderAnswer } from '../http-sse/send-to-provider.js';
import type { RuntimeFailure } from '../protocol/agent-runtime-response.js';
import { failureOfStatus, RuntimeFault } from '../protocol/failure-classification.js';
import { isObject, textOrNull } from './json-fields.js';

/** One AgentScope server. Runtime 1.1 knows no authentication of its own; a proxy before it may want the value. */
export class AgentScopeClient {
  constructor(
    private readonly credential: ResolvedCredential,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  /** @throws RuntimeFault when it refuses, TransportFault when the way to it fails. */
  async send(
    method: 'GET' | 'POST',
    path: string,
    body: unknown,
    signal: AbortSignal,
    onConnected?: () => void,
  ): Promise<ProviderAnswer> {
    const { baseUrl, value } = this.credential;
    const answer = await sendToProvider(
      {
        method,
        url: `${baseUrl}${path}`,
        headers: {
          ...this.headers,
          ...(value === '' ? {} : { authorization: `Bearer ${value}` }),
          accept: 'text/event-stream, application/json',
        },
        body,
      },
      signal,
      onConnected,
    );
    if (answer.status >= 200 && answer.status < 300) return answer;
    const { code, message } = refusalIn(await readRefusal(answer));
    throw new RuntimeFault(failureOfStatus(answer.status, code, message));
  }
}

/** Nothing of the answer came: no connection, or a refusal for load or a fault of the server. */
export function mayPostAgain(failure: RuntimeFailure): boolean {
  return (
    failure.type === 'connect_failed' || failure.type === 'rate_limited' || failure.type === 'provider_5xx'
  );
}

/** FastAPI says `{detail}`, Runtime `{error}`, both as text or object. */
function refusalIn(body: unknown): { code: string | null; message: string | null } {
  if (!isObject(body)) return { code: null, message: null };
  const said = body.error ?? body.detail ?? body;
  if (!isObject(said)) return { code: null, message: textOrNull(said) };
  return { code: textOrNull(said.code), message: textOrNull(said.message) };
}
