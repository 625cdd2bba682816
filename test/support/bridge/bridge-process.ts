import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BRIDGE_ENV } from '../../../src/bridge/protocol.js';
import { compiledBridge } from './compiled-bridge.js';
import { BRIDGE_SECRET, eventsOf, runRequest, type RunningBridge } from './running-bridge.js';

/** The bridge as the process it is, with the given variables in its environment. */
export async function startBridgeProcess(
  environment: Record<string, string> = {},
): Promise<RunningBridge & { readonly pid: number }> {
  const child = spawn(process.execPath, [await compiledBridge()], {
    env: {
      PATH: process.env.PATH,
      [BRIDGE_ENV.secret]: BRIDGE_SECRET,
      [BRIDGE_ENV.parent]: 'stdin',
      [BRIDGE_ENV.logLevel]: 'debug',
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const log: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
  const ended = once(child, 'exit').then(() =>
    Promise.reject(new Error(`the bridge ended: ${log.join('\n')}`)),
  );
  ended.catch(() => undefined);
  const announced = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const [line] = await Promise.race([announced, ended]);
  const url = `http://127.0.0.1:${(JSON.parse(line) as { port: number }).port}`;
  const workspace = await mkdtemp(join(tmpdir(), 'bridge-workspace-'));

  const post: RunningBridge['post'] = (body, { signal } = {}) =>
    fetch(`${url}/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${BRIDGE_SECRET}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...runRequest(workspace), ...body }),
      signal,
    });
  return {
    pid: child.pid ?? 0,
    url,
    workspace,
    log,
    post,
    run: async (body) => eventsOf(await post(body)),
    close: async () => {
      const exit = child.exitCode === null ? once(child, 'exit') : Promise.resolve();
      child.stdin.end();
      await exit;
      await rm(workspace, { recursive: true, force: true });
    },
  };
}
