import 'reflect-metadata';
import { StreamRunEvents } from '../../src/external-api/stream/stream-run-events.js';
import type { AgentRuntimeEvent } from '../../src/runtime-adapters/protocol/agent-runtime-event.js';
import { ApiClient, text } from '../../test/support/external-api/api-client.js';
import { says } from '../../test/support/engine/scripted-runtime.js';
import { agent, chain, input, output } from '../../test/integration/engine/graphs.js';
import { startBenchApi } from './bench-api.js';
import type { Emit, FromServer, ToServer } from './sse-protocol.js';

/** The product: events go through the engine and PostgreSQL to the readers. */
const tell = (message: FromServer): void => void process.send?.(message);
const { api, close } = await startBenchApi();
const client = new ApiClient(api.url);
const workflow = await api.test.workflow(chain(input(), agent('a'), output({ t: '{{ a.text }}' })));

let begin!: (emit: Emit) => void;
let begun: Promise<Emit>;

api.test.runtime.on('a', async function* (): AsyncGenerator<AgentRuntimeEvent> {
  const { eventsPerSecond, seconds } = await begun;
  const startedAt = performance.now();
  for (let seq = 0; seq < eventsPerSecond * seconds; seq += 1) {
    const wait = startedAt + (seq * 1000) / eventsPerSecond - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    yield { type: 'runtime.tool_call', callId: `c${seq}`, tool: 'tick', args: { at: Date.now() } };
  }
  yield says('done');
});

async function open(): Promise<string> {
  begun = new Promise((resolve) => (begin = resolve));
  const { data } = await client.post(`/workflows/${workflow.name}/runs`, {});
  await client.post(text(data.links?.start));
  return text(data.links?.stream);
}

async function handle(message: ToServer): Promise<void> {
  if (message.kind === 'open') tell({ kind: 'opened', path: await open() });
  else if (message.kind === 'emit') begin(message);
  else if (message.kind === 'measure') {
    globalThis.gc?.();
    tell({ kind: 'measured', rss: process.memoryUsage().rss, readers: api.app.get(StreamRunEvents).readers });
  } else {
    await close();
    process.exit(0);
  }
}
process.on('message', (message: ToServer) => void handle(message));
tell({ kind: 'ready', port: Number(new URL(api.url).port) });
