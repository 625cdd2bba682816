import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ActingStub } from '../support/faults/acting-stub.js';
import { DrivenRuns } from '../support/faults/driven-runs.js';
import { SeededRandom } from '../support/faults/seeded-random.js';
import { ServerLives } from '../support/faults/server-lives.js';
import { workloads } from '../support/faults/workloads.js';

const KILLS = Number(process.env.FAULTS_KILLS ?? 50);
const RUNS_AT_A_TIME = 5;
/** Runs get so long to end after the last kill; a parent whose child's call was lost looks again after 30 s. */
const END_MILLIS = 120_000;

/** A kill waits for one of these, so that none is missed by chance. */
const MOMENTS = [
  ...['agent', 'smartAction', 'http', 'code', 'iteration', 'subWorkflow', 'planner', 'output'].map(
    (nodeType) => ({
      nodeType,
      status: 'RUNNING',
    }),
  ),
  ...['humanInput', 'delay', 'subWorkflow'].map((nodeType) => ({ nodeType, status: 'WAITING' })),
  ...['condition', 'template', 'http', 'agent', 'humanInput', 'subWorkflow', 'iteration', 'output'].map(
    (nodeType) => ({ nodeType, status: 'SUCCESS' }),
  ),
];

const random = SeededRandom.ofEnvironment();
let directory: string;
beforeAll(async () => {
  console.log(`FAULTS_SEED=${random.seed}`);
  directory = await mkdtemp(path.join(tmpdir(), 'faults-'));
  await chmod(directory, 0o711);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Survived {
  readonly problems: string[];
  readonly runs: number;
  readonly kinds: number;
  readonly acts: number;
  /** Visits that a kill cut off and a later life began again, by node type. */
  readonly begunAgain: string[];
}

/** Keeps runs going on one data folder while its server is killed again and again, then lets all of them end. */
async function survive(name: string, kills: number): Promise<Survived> {
  const stub = await ActingStub.start(random);
  const lives = new ServerLives(
    {
      dataDir: path.join(directory, name),
      environment: { ENGINE_SWEEP_SECONDS: '0.5', ...stub.environment },
    },
    (life) => (stub.life = life),
  );
  const runs = new DrivenRuns(lives, stub);
  const kinds = workloads(stub.url);
  await lives.start();
  await runs.install(kinds);

  let killing = true;
  let next = 0;
  const drivers = Array.from({ length: RUNS_AT_A_TIME }, async () => {
    while (killing) await runs.drive(kinds.all[next++ % kinds.all.length]!);
  });
  // A driver that fails is told of at the end; until then it must not be an unhandled rejection.
  const driven = Promise.allSettled(drivers);
  for (let kill = 1; kill <= kills; kill += 1) {
    await moment(runs);
    await lives.kill9();
    await lives.start();
  }
  killing = false;
  const timer = new AbortController();
  const late = delay(END_MILLIS, [], { signal: timer.signal }).catch(() => []);
  const outcomes = await Promise.race([driven, late]);
  timer.abort();
  const problems = outcomes.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  problems.push(...runs.withoutEnd());
  if (problems.length === 0) {
    for (const run of runs.all) problems.push(...(await runs.judge(run)));
    problems.push(...(await childrenWithoutEnd(lives)));
  }
  await lives.stop();
  await stub.close();
  return {
    problems,
    runs: runs.all.length,
    kinds: new Set(runs.all.map(({ workload }) => workload)).size,
    acts: stub.acts.length,
    begunAgain: runs.all
      .flatMap(({ reader }) => reader.events)
      .filter(({ payload }) => (payload.attempt ?? 1) > 1)
      .map(({ payload }) => payload.nodeType ?? ''),
  };
}

it(`runs of every node type survive ${KILLS} times kill -9 at random moments`, async () => {
  // Two servers with folders of their own: starting one keeps a single core busy.
  const [one, two] = await Promise.all([
    survive('one', Math.ceil(KILLS / 2)),
    survive('two', Math.floor(KILLS / 2)),
  ]);
  const begunAgain = [...one.begunAgain, ...two.begunAgain];
  const types = [...new Set(begunAgain)].sort();
  console.log(
    `${KILLS} kills, ${one.runs + two.runs} runs, ${one.acts + two.acts} acts; ${begunAgain.length} visits were cut off and begun again: ${types.join(', ')}`,
  );
  expect([...one.problems, ...two.problems]).toEqual([]);
  // Otherwise too little was tried.
  expect([one.kinds, two.kinds]).toEqual([5, 5]);
  expect(begunAgain.length).toBeGreaterThan(KILLS / 2);
  expect(types.length).toBeGreaterThan(3);
}, 900_000);

/** Some kills come early, in the middle of the recovery, some after so many events, some at a wanted one. */
async function moment(runs: DrivenRuns): Promise<void> {
  const kind = random.pick(['early', 'counted', 'counted', 'wanted', 'wanted'] as const);
  if (kind === 'early') {
    await delay(random.between(0, 300));
    return;
  }
  const wanted = random.pick(MOMENTS);
  let left = kind === 'counted' ? random.between(1, 60) : 1;
  await runs.next(({ event, payload }) => {
    const isWanted =
      event === 'node_status' && payload.nodeType === wanted.nodeType && payload.status === wanted.status;
    if (kind === 'counted' || isWanted) left -= 1;
    return left === 0;
  }, 2_500);
  await delay(random.between(0, 25));
}

async function childrenWithoutEnd(lives: ServerLives): Promise<string[]> {
  const problems: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { data } = await lives.request('GET', `/api/v1/workflows/child-flow/runs?limit=100${after}`);
    const page = data as { items: { runId: string; status: string }[]; nextCursor: string | null };
    for (const { runId, status } of page.items) {
      if (!/SUCCESS|FAILED/.test(status))
        problems.push(`child ${runId} is ${status} although its parent has ended`);
    }
    cursor = page.nextCursor;
  }
  return problems;
}
