import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createParser } from 'eventsource-parser';
import { createBridgeServer } from '../../../src/bridge/bridge-server.js';
import type { BridgeSettings } from '../../../src/bridge/bridge-settings.js';
import type { BridgeEvent, BridgeRunRequest } from '../../../src/bridge/protocol.js';

export const BRIDGE_SECRET = 'bridge-secret-0123456789abcdef';

export interface RunningBridge {
  readonly url: string;
  readonly workspace: string;
  /** Lines of its log, as JSON text. */
  readonly log: string[];
  /** Posts a run, its defaults filled in; the answer may be read or dropped. */
  post(body: Partial<BridgeRunRequest>, options?: { signal?: AbortSignal }): Promise<Response>;
  /** The events of a run up to its end. */
  run(body: Partial<BridgeRunRequest>): Promise<BridgeEvent[]>;
  close(): Promise<void>;
}

/** The bridge's server inside this process, with a workspace of its own. */
export async function startBridge(
  settings: Partial<BridgeSettings> = {},
  options: { heartbeatMillis?: number } = {},
): Promise<RunningBridge> {
  const log: string[] = [];
  const note =
    (level: string) =>
    (fields: object, message: string): void =>
      void log.push(JSON.stringify({ level, message, ...fields }));
  const server = createBridgeServer(
    {
      secret: BRIDGE_SECRET,
      port: 0,
      exitsWithParent: false,
      llm: null,
      maxToolCalls: 50,
      allowDemo: true,
      logLevel: 'debug',
      ...settings,
    },
    { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
    options,
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const workspace = await mkdtemp(join(tmpdir(), 'bridge-workspace-'));

  const post: RunningBridge['post'] = (body, { signal } = {}) =>
    fetch(`${url}/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${BRIDGE_SECRET}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...runRequest(workspace), ...body }),
      signal,
    });
  return {
    url,
    workspace,
    log,
    post,
    run: async (body) => eventsOf(await post(body)),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await rm(workspace, { recursive: true, force: true });
    },
  };
}

export function runRequest(workspace: string): BridgeRunRequest {
  return {
    run_id: 'run-1',
    visit_uuid: '6a0f3a54-3f8a-4f0e-9d42-000000000001',
    node_id: 'writer',
    model: 'demo',
    instructions: '',
    prompt: '@say hello',
    tools: [],
    workspace_dir: workspace,
    output_schema: null,
    timeout_seconds: 30,
  };
}

/** Reads an answer to its end. */
export async function eventsOf(response: Response): Promise<BridgeEvent[]> {
  if (response.status !== 200)
    throw new Error(`the bridge answered ${response.status}: ${await response.text()}`);
  const events: BridgeEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => events.push({ event, data: JSON.parse(data) as unknown } as BridgeEvent),
  });
  parser.feed(await response.text());
  return events;
}

type EventName = BridgeEvent['event'];
type DataOf<Name extends EventName> = Extract<BridgeEvent, { event: Name }>['data'];

/** The payloads of the events of one name, in order. */
export function dataOf<Name extends EventName>(events: readonly BridgeEvent[], name: Name): DataOf<Name>[] {
  return events.filter(({ event }) => event === name).map(({ data }) => data as DataOf<Name>);
}
