import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { chunk, sendStream, toolCallInPieces, usageChunk } from '../bridge/chat-chunks.js';
import type { SeededRandom } from './seeded-random.js';

/** Something a node did to the world: which visit it was for, and which life of the server asked. */
export interface Act {
  /** `tag/nodeId/iterSeq`, of a model's calls with `#1`, `#2` … behind it. */
  readonly key: string;
  readonly life: number;
}

interface ChatBody {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/**
 * The outside world of fault tests: it remembers every act, whatever becomes of whoever asked. `GET|POST /act/KEY`
 * answers `{key}`, `/flaky/KEY` always 503, `/v1/chat/completions` plays a model: a prompt with a line `ACT KEY`
 * makes it write a file (where it has the tool) and then answer; with `ACT KEY json` it answers `{"said": KEY}`.
 */
export class ActingStub {
  readonly acts: Act[] = [];
  /** Set by the test: the life of the server that asks from now on. */
  life = 1;
  readonly #server: Server;

  private constructor(
    private readonly random: SeededRandom,
    /** An act takes up to so long, so that a kill meets it under way. */
    private readonly slowestMillis: number,
  ) {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(random: SeededRandom, slowestMillis = 120): Promise<ActingStub> {
    const stub = new ActingStub(random, slowestMillis);
    stub.#server.listen(0, '127.0.0.1');
    await once(stub.#server, 'listening');
    return stub;
  }

  /** `127.0.0.1:port` */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `http://${this.host}`;
  }

  /** Environment of a server whose http nodes and models come here. */
  get environment(): Record<string, string> {
    return {
      ENGINE_HTTP_ALLOWED_HOSTS: JSON.stringify([this.host]),
      HERMES_LLM_BASE_URL: `${this.url}/v1`,
      HERMES_LLM_MODEL: 'stub',
    };
  }

  of(key: string): Act[] {
    return this.acts.filter((act) => act.key === key);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = decodeURI(request.url ?? '');
    const body = await textOf(request);
    const [, kind, key = ''] = /^\/(act|flaky)\/(.+)$/.exec(url) ?? [];
    if (kind) {
      await this.#act(key);
      response.writeHead(kind === 'act' ? 200 : 503, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ key }));
      return;
    }
    await this.#chat(JSON.parse(body) as ChatBody, response);
  }

  async #chat({ messages }: ChatBody, response: ServerResponse): Promise<void> {
    const said = JSON.stringify(messages.filter(({ role }) => role === 'user'));
    const [, key = 'unknown', json] = /ACT (\S+?)( json)?(?:\\n|"|\s)/.exec(said) ?? [];
    const calls = messages.filter(({ role }) => role === 'tool').length;
    await this.#act(`${key}#${calls + 1}`);
    if (json) {
      sendStream(response, [
        chunk({ content: JSON.stringify({ said: key }) }),
        chunk({}, { finish: 'stop' }),
      ]);
    } else if (calls === 0) {
      const file = JSON.stringify({ path: `${key.replaceAll('/', '_')}.txt`, content: key });
      sendStream(response, [...toolCallInPieces('call-1', 'write_file', file), usageChunk]);
    } else {
      sendStream(response, [
        chunk({ content: `wrote ` }),
        chunk({ content: key }),
        chunk({}, { finish: 'stop' }),
        usageChunk,
      ]);
    }
  }

  async #act(key: string): Promise<void> {
    this.acts.push({ key, life: this.life });
    await delay(this.random.between(1, this.slowestMillis));
  }
}
