/** Ends of the server, its bridge and its PostgreSQL other than the server's own kill -9. */
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ActingStub } from '../support/faults/acting-stub.js';
import { DrivenRuns } from '../support/faults/driven-runs.js';
import { SeededRandom } from '../support/faults/seeded-random.js';
import { ServerLives } from '../support/faults/server-lives.js';
import { workloads } from '../support/faults/workloads.js';
import { PATIENCE_MILLIS } from '../support/patience.js';

const random = SeededRandom.ofEnvironment();
let directory: string;
let stub: ActingStub;
let lives: ServerLives;
let runs: DrivenRuns;
let kinds: ReturnType<typeof workloads>;

beforeAll(async () => {
  console.log(`FAULTS_SEED=${random.seed}`);
  directory = await mkdtemp(path.join(tmpdir(), 'deaths-'));
  await chmod(directory, 0o711);
  stub = await ActingStub.start(random);
  lives = new ServerLives(
    {
      dataDir: path.join(directory, 'data'),
      environment: { ENGINE_SWEEP_SECONDS: '0.5', ...stub.environment },
    },
    (life) => (stub.life = life),
  );
  await lives.start();
  runs = new DrivenRuns(lives, stub);
  kinds = workloads(stub.url);
  await runs.install(kinds);
}, 120_000);
afterAll(async () => {
  await lives.stop();
  await stub.close();
  await rm(directory, { recursive: true, force: true });
});

/** One run of every kind, twice. */
const begin = (): Promise<unknown> =>
  Promise.all([...kinds.all, ...kinds.all].map((workload) => runs.drive(workload)));

async function judge(): Promise<string[]> {
  const problems: string[] = [];
  for (const run of runs.all.splice(0)) problems.push(...(await runs.judge(run)));
  return problems;
}

const beginnings = (): number =>
  runs.all
    .flatMap(({ reader }) => reader.events)
    .filter(({ payload }) => (payload.attempt ?? 1) > 1 && payload.nodeId !== 'flaky').length;

const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
};

it('SIGTERM in the middle of runs ends in order, again and again, and they go on', async () => {
  const ended = begin();
  for (let stop = 1; stop <= 4; stop += 1) {
    await runs.next(({ payload }) => payload.status === 'RUNNING');
    await delay(random.between(0, 400));
    // Throws unless it ends with 0 in time and leaves no process behind.
    await lives.stop();
    await lives.start();
  }
  await ended;
  const again = beginnings();
  expect(await judge()).toEqual([]);
  expect(again).toBeGreaterThan(0);
}, 240_000);

it('kill -9 in the middle of stopping loses nothing either', async () => {
  const ended = begin();
  for (let stop = 1; stop <= 3; stop += 1) {
    await runs.next(({ payload }) => payload.status === 'RUNNING');
    process.kill(lives.server.pid, 'SIGTERM');
    await delay(random.between(0, 60));
    await lives.kill9();
    await lives.start();
  }
  await ended;
  expect(await judge()).toEqual([]);
}, 240_000);

it('a bridge that is killed under its visits is started again, and they act again', async () => {
  const ended = begin();
  // A visit survives three deaths of its bridge.
  for (let kill = 1; kill <= 3; kill += 1) {
    await runs.next(({ event, payload }) => event === 'node_stream' && payload.nodeType === 'agent');
    await delay(random.between(0, 20));
    process.kill(await bridgePid(), 'SIGKILL');
  }
  await ended;
  const again = beginnings();
  expect(await judge()).toEqual([]);
  expect(again).toBeGreaterThan(0);
}, 240_000);

it('a PostgreSQL that is killed under its server is started again, and every run goes on', async () => {
  const ended = begin();
  const pidFile = path.join(directory, 'data/postgres/data/postmaster.pid');
  for (let kill = 1; kill <= 3; kill += 1) {
    await runs.next(({ payload }) => payload.status === 'SUCCESS');
    await delay(random.between(0, 60));
    const [pid = ''] = (await readFile(pidFile, 'utf8')).split('\n');
    // Visits whose end was read before this must not act after it.
    lives.mark();
    process.kill(Number(pid), 'SIGKILL');
    await waitUntilReady();
  }
  await ended;
  expect(await judge()).toEqual([]);
}, 240_000);

/** Of the bridge that runs, or that is about to. */
async function bridgePid(): Promise<number> {
  for (const until = Date.now() + PATIENCE_MILLIS; ; await delay(10)) {
    const pid = lives.server.descendants().find((one) => /bridge.main\.js/.test(commandOf(one)));
    if (pid !== undefined) return pid;
    if (Date.now() > until) throw new Error('there is no bridge');
  }
}

async function waitUntilReady(): Promise<void> {
  for (const until = Date.now() + PATIENCE_MILLIS; ; await delay(25)) {
    const { status } = await fetch(`${lives.server.url}/api/v1/workflows`, {
      headers: { 'X-API-Key': 'demo-key' },
    });
    if (status === 200) return;
    if (Date.now() > until)
      throw new Error(`PostgreSQL did not come back: ${lives.server.logs().slice(-2_000)}`);
  }
}
