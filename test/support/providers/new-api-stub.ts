import { dataFrame, json, type Play } from './play.js';
import { ProviderStub, type ReceivedRequest } from './provider-stub.js';

/** New-API's `/v1/chat/completions`, streaming. */
export class NewApiStub extends ProviderStub {
  constructor(readonly key: string) {
    super();
  }

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  protected isCommand({ method, path }: ReceivedRequest): boolean {
    return method === 'POST' && path === '/v1/chat/completions';
  }

  protected answer(request: ReceivedRequest): Play {
    if (!this.isCommand(request))
      return json(404, { error: { message: 'Invalid URL', type: 'invalid_request_error' } });
    return {
      headers: { 'x-oneapi-request-id': 'req-20260101-1' },
      pieces: newApiFrames(['Hello, ', 'world']),
    };
  }

  protected unauthorized(): Play {
    return json(401, newApiError('Incorrect API key provided', 'invalid_api_key'));
  }
}

export function newApiError(message: string, code: unknown = 'bad_response_status_code'): unknown {
  return { error: { message, type: 'new_api_error', code } };
}

export function newApiChunk(delta: Record<string, unknown>, finishReason: string | null = null): string {
  return dataFrame({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
}

export function newApiUsage(): string {
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  return dataFrame({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices: [], usage });
}

export const NEW_API_DONE = 'data: [DONE]\n\n';

export function newApiFrames(texts: readonly string[]): string[] {
  return [
    newApiChunk({ role: 'assistant', content: '' }),
    ...texts.map((content) => newApiChunk({ content })),
    newApiChunk({}, 'stop'),
    newApiUsage(),
    NEW_API_DONE,
  ];
}
