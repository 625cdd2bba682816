import type { ServerResponse } from 'node:http';
import { dataFrame, json, type Play } from './play.js';
import { ProviderStub, type ReceivedRequest } from './provider-stub.js';

export const TASK_ID = '11111111-1111-4111-8111-111111111111';
export const RUN_ID = '22222222-2222-4222-8222-222222222222';
export const MESSAGE_ID = '33333333-3333-4333-8333-333333333333';
export const CONVERSATION_ID = '44444444-4444-4444-8444-444444444444';

/** Dify's Service API for the apps `agent`, `chat` and `workflow`; the streamed task is always the same one. */
export class DifyStub extends ProviderStub {
  /** What `GET /workflows/run/{id}` tells, one answer each, the last one for ever. */
  runs: Record<string, unknown>[] = [];
  /** What `GET /messages` lists, in the same way. */
  messages: Record<string, unknown>[][] = [];
  /** What the events endpoint streams; null: it answers 404. */
  events: readonly string[] | null = null;
  /** `lies` says success while the run goes on. */
  stops: 'confirms' | 'lies' | 'refuses' = 'confirms';
  #user: unknown = null;
  #open: ServerResponse | null = null;
  #isStopped = false;

  constructor(readonly key: string) {
    super();
  }

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  override reset(): void {
    super.reset();
    this.runs = [];
    this.messages = [];
    this.events = null;
    this.stops = 'confirms';
    this.#isStopped = false;
  }

  countOf(method: string, path: RegExp): number {
    return this.requests.filter((request) => request.method === method && path.test(request.path)).length;
  }

  protected isCommand(request: ReceivedRequest): boolean {
    const isPost =
      request.method === 'POST' && /^\/v1\/(chat-messages|workflows(\/[^/]+)?\/run)$/.test(request.path);
    if (isPost) {
      this.#user = request.body?.user;
      this.#open = request.response;
    }
    return isPost;
  }

  protected unauthorized(): Play {
    return json(401, difyError(401, 'unauthorized', 'Access token is invalid'));
  }

  protected answer({ method, path, query, body }: ReceivedRequest): Play {
    if (method === 'POST' && path === '/v1/chat-messages') return this.#chat(body);
    if (method === 'POST' && path.endsWith('/run')) return this.#workflow(body);
    if (method === 'POST' && path.endsWith('/stop')) return this.#stop(path, body);
    if (method === 'GET' && path === `/v1/workflows/run/${RUN_ID}`) return this.#run();
    if (method === 'GET' && path === `/v1/workflow/${RUN_ID}/events`) {
      if (query.get('user') !== this.#user || !this.events) return notFound();
      return { pieces: this.events };
    }
    if (method === 'GET' && path === '/v1/messages') return this.#messages(query);
    return notFound();
  }

  #chat(body: Record<string, unknown> | null): Play {
    if (typeof body?.query !== 'string' || typeof body.user !== 'string') {
      return json(400, difyError(400, 'invalid_param', 'query and user are required'));
    }
    if (body.response_mode !== 'blocking') return { pieces: difyChatFrames(['Hello, ', 'world']) };
    const ids = { task_id: TASK_ID, message_id: MESSAGE_ID, conversation_id: CONVERSATION_ID };
    return json(200, { event: 'message', ...ids, mode: 'chat', answer: 'Hello, world', metadata: METADATA });
  }

  #workflow(body: Record<string, unknown> | null): Play {
    if (typeof body?.user !== 'string') return json(400, difyError(400, 'invalid_param', 'user is required'));
    if (body.response_mode !== 'blocking') return { pieces: difyWorkflowFrames(['Hello, ', 'world']) };
    const data = { id: RUN_ID, status: 'succeeded', outputs: { text: 'Hello, world' }, total_tokens: 18 };
    return json(200, { task_id: TASK_ID, workflow_run_id: RUN_ID, data });
  }

  #run(): Play {
    if (this.#isStopped) return json(200, { id: RUN_ID, status: 'stopped', outputs: '{}', error: null });
    const [run] = this.runs.length > 1 ? this.runs.splice(0, 1) : this.runs;
    return run ? json(200, { id: RUN_ID, inputs: '{}', ...run }) : notFound();
  }

  #messages(query: URLSearchParams): Play {
    if (query.get('conversation_id') !== CONVERSATION_ID || query.get('user') !== this.#user)
      return notFound();
    const [list] = this.messages.length > 1 ? this.messages.splice(0, 1) : this.messages;
    return json(200, { limit: 20, has_more: false, data: list ?? [] });
  }

  #stop(path: string, body: Record<string, unknown> | null): Play {
    if (this.stops === 'refuses') return json(500, difyError(500, 'internal_server_error', 'cannot stop'));
    // Dify says success to another user as well, and does nothing.
    if (this.stops === 'confirms' && body?.user === this.#user && path.includes(TASK_ID)) {
      this.#isStopped = true;
      const end = path.includes('/workflows/') ? difyFinished('stopped', {}) : difyMessageEnd();
      // The line's end closes what a trickle may have begun.
      this.#open?.end(`\n\n${end}`);
    }
    return json(200, { result: 'success' });
  }
}

function notFound(): Play {
  return json(404, difyError(404, 'not_found', 'not found'));
}

export function difyError(status: number, code: string, message: string): Record<string, unknown> {
  return { code, message, status };
}

const IDS = { task_id: TASK_ID, message_id: MESSAGE_ID, conversation_id: CONVERSATION_ID };
const METADATA = {
  usage: {
    prompt_tokens: 11,
    completion_tokens: 7,
    total_tokens: 18,
    total_price: '0.0012',
    currency: 'USD',
    latency: 1.2,
  },
  retriever_resources: [] as unknown[],
};

export function difyChatFrame(event: string, more: Record<string, unknown> = {}): string {
  return dataFrame({ event, ...IDS, created_at: 1, ...more });
}

export function difyMessageEnd(metadata: Record<string, unknown> = {}): string {
  return difyChatFrame('message_end', { metadata: { ...METADATA, ...metadata } });
}

export function difyChatFrames(texts: readonly string[], event = 'message'): string[] {
  return [...texts.map((answer) => difyChatFrame(event, { answer })), difyMessageEnd()];
}

export function difyRunFrame(event: string, data: Record<string, unknown> = {}): string {
  return dataFrame({ event, task_id: TASK_ID, workflow_run_id: RUN_ID, data });
}

export function difyFinished(
  status: string,
  outputs: Record<string, unknown>,
  error: string | null = null,
): string {
  return difyRunFrame('workflow_finished', {
    id: RUN_ID,
    workflow_id: 'w',
    status,
    outputs,
    error,
    total_tokens: 18,
  });
}

export function difyWorkflowFrames(texts: readonly string[]): string[] {
  const node = { id: 'n1', node_id: 'llm', node_type: 'llm', title: 'LLM', index: 1 };
  return [
    difyRunFrame('workflow_started', { id: RUN_ID, workflow_id: 'w', inputs: {}, created_at: 1 }),
    difyRunFrame('node_started', node),
    ...texts.map((text) => difyRunFrame('text_chunk', { text, from_variable_selector: ['llm', 'text'] })),
    difyRunFrame('node_finished', { ...node, status: 'succeeded', outputs: {}, elapsed_time: 0.1 }),
    difyFinished('succeeded', { text: texts.join('') }),
  ];
}
