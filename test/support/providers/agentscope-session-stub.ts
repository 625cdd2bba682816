import type { ServerResponse } from 'node:http';
import { dataFrame, json, type Play } from './play.js';
import { ProviderStub, type ReceivedRequest } from './provider-stub.js';

const SESSION_ID = 'session-1';

/**
 * AgentScope 2.0: sessions, a chat that only starts, and a stream that replays, goes on live and stays open. What a
 * test puts into `next` is what the session's next streams do.
 */
export class AgentScopeSessionStub extends ProviderStub {
  /** `lies` answers 202 and goes on. */
  interrupts: 'confirms' | 'lies' = 'confirms';
  /** How the chat post is answered, one each; after them it starts. */
  chats: Play[] = [];
  #streams: Play[] = [];
  #open: ServerResponse | null = null;
  #hasSession = false;
  #isStarted = false;

  constructor(readonly key: string | null) {
    super();
  }

  get baseUrl(): string {
    return this.origin;
  }

  override next(...plays: Play[]): void {
    this.#streams.push(...plays);
  }

  override reset(): void {
    super.reset();
    this.interrupts = 'confirms';
    this.chats = [];
    this.#streams = [];
    this.#hasSession = false;
    this.#isStarted = false;
  }

  protected isCommand({ method, path }: ReceivedRequest): boolean {
    return method === 'POST' && path === '/chat/';
  }

  protected answer({ method, path, headers, body, response }: ReceivedRequest): Play {
    if (typeof headers['x-user-id'] !== 'string') return json(401, { detail: 'X-User-ID is missing' });
    if (method === 'POST' && path === '/sessions/') {
      if (typeof body?.agent_id !== 'string') return json(422, { detail: 'agent_id: field required' });
      this.#hasSession = true;
      return json(201, { session_id: SESSION_ID });
    }
    if (!this.#hasSession) return json(404, { detail: 'Session not found.' });
    if (method === 'POST' && path === '/chat/') {
      const play = this.chats.shift();
      if (play) return play;
      this.#isStarted = true;
      return json(200, { status: 'started', session_id: SESSION_ID });
    }
    if (method === 'GET' && path === `/sessions/${SESSION_ID}/stream`) return this.#stream(response);
    if (method === 'POST' && path === `/sessions/${SESSION_ID}/interrupt`) return this.#interrupt();
    return json(404, { detail: 'Not Found' });
  }

  protected unauthorized(): Play {
    return json(401, { detail: 'Unauthorized' });
  }

  #stream(response: ServerResponse): Play {
    this.#open = response;
    const silence: Play = { then: 'silence' };
    if (!this.#isStarted) return this.#streams.shift() ?? silence;
    return this.#streams.shift() ?? { pieces: sessionFrames(['Hello, ', 'world']), then: 'silence' };
  }

  #interrupt(): Play {
    if (this.interrupts === 'confirms') this.#open?.write(`\n\n${replyEnd('interrupted')}`);
    return json(202, { session_id: SESSION_ID });
  }
}

let nextId = 0;

export function sessionEvent(type: string, more: Record<string, unknown> = {}): string {
  nextId += 1;
  return dataFrame({ id: `e${String(nextId)}`, type, reply_id: 'reply-1', ...more });
}

export function replyEnd(reason = 'completed', error: unknown = null): string {
  return sessionEvent('REPLY_END', { session_id: SESSION_ID, finished_reason: reason, error });
}

export function sessionFrames(texts: readonly string[]): string[] {
  const block = { block_id: 'b1' };
  return [
    sessionEvent('REPLY_START', { session_id: SESSION_ID, name: 'Friday', role: 'assistant' }),
    sessionEvent('MODEL_CALL_START', { model_name: 'm' }),
    sessionEvent('TEXT_BLOCK_START', block),
    ...texts.map((delta) => sessionEvent('TEXT_BLOCK_DELTA', { ...block, delta })),
    sessionEvent('TEXT_BLOCK_END', { ...block, text: null }),
    sessionEvent('MODEL_CALL_END', { input_tokens: 11, output_tokens: 7 }),
    replyEnd(),
  ];
}
