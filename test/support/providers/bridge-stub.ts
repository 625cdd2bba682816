import { json, type Play } from './play.js';
import { ProviderStub, type ReceivedRequest } from './provider-stub.js';

/** A bridge that speaks contract.md's protocol, without any agent in it. */
export class BridgeStub extends ProviderStub {
  constructor(readonly key: string) {
    super();
  }

  get baseUrl(): string {
    return this.origin;
  }

  protected isCommand({ method, path }: ReceivedRequest): boolean {
    return method === 'POST' && path === '/run';
  }

  protected answer(request: ReceivedRequest): Play {
    if (!this.isCommand(request)) return json(404, { error: { code: 'NOT_FOUND', message: 'not found' } });
    return { pieces: bridgeFrames(['Hello, ', 'world']) };
  }

  protected unauthorized(): Play {
    return json(401, { error: { code: 'UNAUTHORIZED', message: 'who are you?' } });
  }
}

export function bridgeFrame(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

export function bridgeFrames(texts: readonly string[]): string[] {
  return [
    bridgeFrame('thinking', { text: 'hm' }),
    ...texts.map((text) => bridgeFrame('text', { text })),
    bridgeFrame('usage', { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }),
    bridgeFrame('result', { text: texts.join(''), data: null }),
  ];
}
