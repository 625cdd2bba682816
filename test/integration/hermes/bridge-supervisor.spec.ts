import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { BridgeUnavailableError } from '../../../src/runtime-adapters/hermes/bridge-endpoint.js';
import { bridgeHealth } from '../../../src/runtime-adapters/hermes/bridge-health.js';
import { compiledBridge } from '../../support/bridge/compiled-bridge.js';
import { dataOf, eventsOf, runRequest } from '../../support/bridge/running-bridge.js';
import {
  eventually,
  isAlive,
  supervisedBridge,
  type SupervisedBridge,
} from '../../support/bridge/supervised-bridge.js';

const never = new AbortController().signal;
const PARENT = fileURLToPath(new URL('../../support/bridge/supervising-parent.js', import.meta.url));

describe('the supervisor of the bridge', () => {
  let bridge: SupervisedBridge;
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'supervisor-'));
  });
  afterEach(async () => {
    await bridge.supervisor.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const started = async (...options: Parameters<typeof supervisedBridge>): Promise<number> => {
    bridge = await supervisedBridge(...options);
    bridge.supervisor.start();
    await bridge.supervisor.endpoint(never);
    return pidNow();
  };
  const pidNow = (): number => {
    const { pid } = bridge.supervisor;
    if (!pid) throw new Error('no bridge listens');
    return pid;
  };
  const post = async (prompt: string): Promise<Response> => {
    const { url, secret } = await bridge.supervisor.endpoint(never);
    return fetch(`${url}/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({ ...runRequest(folder), prompt }),
    });
  };
  /** A program that stands in for the bridge. */
  const entryOf = async (code: string): Promise<string> => {
    const entry = join(folder, 'entry.mjs');
    await writeFile(entry, code);
    return entry;
  };
  const announce = `process.stdout.write('{"port":1}\\n');`;

  it('starts a bridge that works', async () => {
    await started();
    const events = await eventsOf(await post('@say hello'));
    expect(dataOf(events, 'result')[0]?.text).toBe('hello');
    expect(bridge.supervisor.isReady()).toBe(true);
  });

  it('starts it again after a crash; calls wait for the new one', async () => {
    const first = await started();
    const { secret } = await bridge.supervisor.endpoint(never);
    process.kill(first, 'SIGKILL');
    await eventually(
      'the crash is noticed',
      () => !bridge.supervisor.isReady() || bridge.supervisor.pid !== first,
    );
    const events = await eventsOf(await post('@say again'));
    expect(dataOf(events, 'result')[0]?.text).toBe('again');
    expect(pidNow()).not.toBe(first);
    expect((await bridge.supervisor.endpoint(never)).secret).not.toBe(secret);
    expect(bridge.log.join('\n')).toMatch(/killed by SIGKILL/);
  });

  it('kills and replaces one that hangs', async () => {
    const first = await started({ timing: { probeTimeout: 300 } });
    process.kill(first, 'SIGSTOP');
    await eventually(
      'another bridge listens',
      () => bridge.supervisor.isReady() && bridge.supervisor.pid !== first,
    );
    expect(isAlive(first)).toBe(false);
  });

  it('waits longer and longer for one that cannot start, and tells the calls', async () => {
    const starts = join(folder, 'starts');
    const entry = await entryOf(
      `import fs from 'node:fs'; fs.appendFileSync(${JSON.stringify(starts)}, Date.now() + '\\n'); process.exit(3);`,
    );
    bridge = await supervisedBridge({ entry, timing: { wait: 200, backoff: 40, longestBackoff: 160 } });
    bridge.supervisor.start();
    await expect(bridge.supervisor.endpoint(never)).rejects.toThrow(BridgeUnavailableError);
    let times: number[] = [];
    await eventually('four starts', async () => {
      times = (await readFile(starts, 'utf8').catch(() => '')).trim().split('\n').map(Number);
      return times.length >= 4;
    });
    const gaps = [1, 2, 3].map((at) => Number(times[at]) - Number(times[at - 1]));
    for (const [at, least] of [40, 80, 160].entries()) expect(gaps[at]).toBeGreaterThanOrEqual(least);
    expect(bridge.log.join('\n')).toMatch(/exit code 3/);
  });

  it('gives up waiting when the caller does', async () => {
    bridge = await supervisedBridge({ entry: await entryOf('setInterval(() => {}, 1000);') });
    bridge.supervisor.start();
    const caller = new AbortController();
    const waiting = bridge.supervisor.endpoint(caller.signal);
    caller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  it.each([
    ['listens', ''],
    ['is idle', '@say x'],
    ['works', '@sleep 60000'],
  ])('leaves nothing behind when it stops while the bridge %s', async (_name, prompt) => {
    const pid = await started();
    const call = prompt === '' ? null : await post(prompt);
    await bridge.supervisor.stop();
    expect(isAlive(pid)).toBe(false);
    await call?.text().catch(() => undefined);
    await expect(bridge.supervisor.endpoint(never)).rejects.toThrow(BridgeUnavailableError);
  });

  it('leaves nothing behind when it stops during the start', async () => {
    const entry = await entryOf(
      `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(join(folder, 'pid'))}, String(process.pid)); setInterval(() => {}, 1000);`,
    );
    bridge = await supervisedBridge({ entry });
    bridge.supervisor.start();
    const pid = join(folder, 'pid');
    await eventually('it is being started', () =>
      readFile(pid, 'utf8').then(
        (text) => text !== '',
        () => false,
      ),
    );
    await bridge.supervisor.stop();
    expect(isAlive(Number(await readFile(pid, 'utf8')))).toBe(false);
    // A start that is given up is no failure of the bridge.
    expect(bridge.log.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
  });

  it('kills one that does not want to end', async () => {
    const entry = await entryOf(`process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); ${announce}`);
    const pid = await started({ entry, timing: { probeEvery: 60_000 } });
    await bridge.supervisor.stop();
    expect(isAlive(pid)).toBe(false);
  });

  it('takes over its log, without secrets', async () => {
    const entry = await entryOf(
      `console.error('plain words'); console.error(JSON.stringify({ level: 50, msg: 'bad', secret: process.env.BRIDGE_SECRET, key: 'KNOWN' })); setInterval(() => {}, 1000); ${announce}`,
    );
    await started({
      entry,
      redact: (text) => text.replace('KNOWN', '[redacted]'),
      timing: { probeEvery: 60_000 },
    });
    await eventually(
      'both lines are there',
      () => bridge.log.filter((line) => line.includes('"bridge"')).length >= 2,
    );
    const { secret } = await bridge.supervisor.endpoint(never);
    const log = bridge.log.join('\n');
    expect(log).toMatch(/"level":"warn","message":"plain words"/);
    expect(log).toMatch(/"level":"error","message":"bad","secret":"\[redacted\]","key":"\[redacted\]"/);
    expect(log).not.toContain(secret);
  });

  it('shows the child neither the secrets of the server nor keeps the secret in its environment', async () => {
    process.env.CANARY_FOR_CHILD = 'canary';
    const pid = await started();
    delete process.env.CANARY_FOR_CHILD;
    const seen = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    expect(seen).not.toContain('CANARY_FOR_CHILD');
  });

  it('lets a new one take over when a key is rotated; the old one ends its work first', async () => {
    const first = await started();
    const slow = await post('@sleep 600\n@say done in peace');
    bridge.settings = { ...bridge.settings, maxToolCalls: 7 };
    expect(dataOf(await eventsOf(await post('@say new')), 'result')[0]?.text).toBe('new');
    const second = pidNow();
    expect(second).not.toBe(first);
    expect(dataOf(await eventsOf(slow), 'result')[0]?.text).toBe('done in peace');
    await eventually('the old one is gone', () => !isAlive(first));
    expect(pidNow()).toBe(second);
  });

  it('answers its health to nobody without the secret', async () => {
    await started();
    const endpoint = await bridge.supervisor.endpoint(never);
    expect(await bridgeHealth(endpoint, 1_000)).toEqual({ active: 0 });
    expect(await bridgeHealth({ ...endpoint, secret: 'wrong' }, 1_000)).toBeNull();
  });
});

describe('a bridge whose parent dies', () => {
  it.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)('is gone after %s', async (signal) => {
    const parent = spawn(process.execPath, [PARENT, await compiledBridge()], {
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
    const { pid, url, secret } = JSON.parse(line) as { pid: number; url: string; secret: string };
    expect(isAlive(pid)).toBe(true);
    // In the middle of its work.
    const response = await fetch(`${url}/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({ ...runRequest('/tmp'), prompt: '@sleep 60000' }),
    });
    const exit = once(parent, 'exit');
    parent.kill(signal);
    await exit;
    await eventually('the bridge is gone', () => !isAlive(pid));
    await response.text().catch(() => undefined);
  });

  it('does not mind a signal to the whole group while its parent lives', async () => {
    const bridge = await supervisedBridge();
    bridge.supervisor.start();
    const { url, secret } = await bridge.supervisor.endpoint(never);
    const pid = bridge.supervisor.pid ?? 0;
    process.kill(pid, 'SIGINT');
    process.kill(pid, 'SIGTERM');
    const response = await fetch(`${url}/run`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({ ...runRequest('/tmp'), prompt: '@say still here' }),
    });
    expect(dataOf(await eventsOf(response), 'result')[0]?.text).toBe('still here');
    await bridge.supervisor.stop();
    expect(isAlive(pid)).toBe(false);
  });
});
