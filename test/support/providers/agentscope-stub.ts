import { dataFrame, json, type Play } from './play.js';
import { ProviderStub, type ReceivedRequest } from './provider-stub.js';

/** AgentScope Runtime 1.1: `POST /process`, which answers 200 whatever happens. */
export class AgentScopeStub extends ProviderStub {
  constructor(readonly key: string | null) {
    super();
  }

  get baseUrl(): string {
    return this.origin;
  }

  protected isCommand({ method, path }: ReceivedRequest): boolean {
    return method === 'POST' && path === '/process';
  }

  protected answer(request: ReceivedRequest): Play {
    if (request.path === '/health') return json(200, { status: 'healthy', runner: 'ready' });
    if (!this.isCommand(request)) return json(404, { detail: 'Not Found' });
    if (!Array.isArray(request.body?.input))
      return { pieces: [dataFrame({ error: 'input: field required' })] };
    return { pieces: processFrames(['Hello, ', 'world']) };
  }

  /** By the proxy before it: the Runtime itself knows no authentication. */
  protected unauthorized(): Play {
    return json(401, { detail: 'Unauthorized' });
  }
}

export const RESPONSE_ID = 'response_1';

export function processFrame(object: string, status: string, more: Record<string, unknown> = {}): string {
  return dataFrame({ sequence_number: 0, object, status, error: null, ...more });
}

export function processResponse(status: string, more: Record<string, unknown> = {}): string {
  return processFrame('response', status, {
    id: RESPONSE_ID,
    session_id: 's',
    output: null,
    usage: null,
    ...more,
  });
}

export function processMessage(status: string, more: Record<string, unknown> = {}): string {
  return processFrame('message', status, {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: null,
    ...more,
  });
}

export function processText(text: string, more: Record<string, unknown> = {}): string {
  return processFrame('content', 'in_progress', {
    type: 'text',
    index: 0,
    delta: true,
    msg_id: 'msg_1',
    text,
    ...more,
  });
}

/** The deltas, then the whole text once more, in a content frame and in the message's. */
export function processFrames(texts: readonly string[]): string[] {
  const whole = texts.join('');
  const usage = { input_tokens: 11, output_tokens: 7 };
  const content = [{ type: 'text', object: 'content', text: whole, index: 0, delta: false }];
  const message = {
    id: 'msg_1',
    object: 'message',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content,
  };
  return [
    processResponse('created'),
    processResponse('in_progress'),
    processMessage('in_progress'),
    ...texts.map((text) => processText(text)),
    processText(whole, { delta: false, status: 'completed' }),
    processMessage('completed', { content, usage }),
    processResponse('completed', { output: [message], usage }),
  ];
}
