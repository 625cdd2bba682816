import type { ResolvedCredential } from '../../credentials/index.js';
import { readJson, readRefusal } from '../http-sse/read-body.js';
import { sendToProvider, type ProviderAnswer } from '../http-sse/send-to-provider.js';
import { RuntimeFault } from '../protocol/failure-classification.js';
import { refusalFailure, refusalOfBody } from './dify-failure.js';

/** Dify's Service API for one app: which key it is decides which app answers. */
export class DifyClient {
  constructor(
    private readonly credential: ResolvedCredential,
    private readonly traceHeaders: Readonly<Record<string, string>>,
  ) {}

  /** @throws RuntimeFault when Dify refuses, TransportFault when the way to it fails. */
  async post(
    path: string,
    body: unknown,
    signal: AbortSignal,
    onConnected?: () => void,
  ): Promise<ProviderAnswer> {
    return this.#send('POST', path, body, signal, onConnected);
  }

  async getJson(path: string, signal: AbortSignal): Promise<unknown> {
    return readJson(await this.#send('GET', path, undefined, signal));
  }

  async getStream(path: string, signal: AbortSignal): Promise<ProviderAnswer> {
    return this.#send('GET', path, undefined, signal);
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    body: unknown,
    signal: AbortSignal,
    onConnected?: () => void,
  ): Promise<ProviderAnswer> {
    const answer = await sendToProvider(
      {
        method,
        url: `${this.credential.baseUrl}${path}`,
        headers: {
          ...this.traceHeaders,
          authorization: `Bearer ${this.credential.value}`,
          accept: 'text/event-stream, application/json',
        },
        body,
      },
      signal,
      onConnected,
    );
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw new RuntimeFault(refusalFailure(refusalOfBody(answer.status, await readRefusal(answer))));
  }
}
