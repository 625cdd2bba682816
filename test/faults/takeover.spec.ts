/** Two servers on one PostgreSQL (Debian's where it is installed): what one leaves, the other takes over. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ActingStub } from '../support/faults/acting-stub.js';
import { DrivenRuns } from '../support/faults/driven-runs.js';
import { SeededRandom } from '../support/faults/seeded-random.js';
import { ServerPool } from '../support/faults/server-pool.js';
import { startSystemPostgres, type SystemPostgres } from '../support/faults/system-postgres.js';
import { workloads } from '../support/faults/workloads.js';
import { createEmptyDatabase, type EmptyDatabase } from '../support/test-database.js';
import type { TestServer } from '../support/test-server.js';

const LEASE_SECONDS = 3;

const random = SeededRandom.ofEnvironment();
let postgres: SystemPostgres | null;
let fallback: EmptyDatabase | null = null;
let databaseUrl: string;
let directory: string;
let stub: ActingStub;
let client: pg.Client;
let pool: ServerPool;
let runs: DrivenRuns;
let kinds: ReturnType<typeof workloads>;

beforeAll(async () => {
  postgres = await startSystemPostgres();
  if (!postgres) fallback = await createEmptyDatabase();
  databaseUrl = (postgres ?? fallback)?.url ?? '';
  console.log(`FAULTS_SEED=${random.seed}, PostgreSQL ${postgres?.version ?? 'embedded'}`);
  directory = await mkdtemp(path.join(tmpdir(), 'takeover-'));
  stub = await ActingStub.start(random);
  client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const environment = {
    ENGINE_LEASE_SECONDS: String(LEASE_SECONDS),
    ENGINE_SWEEP_SECONDS: '0.3',
    ...stub.environment,
  };
  pool = new ServerPool(
    { databaseUrl, dataDir: path.join(directory, 'data'), environment },
    (life) => (stub.life = life),
  );
  // Both at once: they migrate the empty database together.
  await Promise.all([pool.start(), pool.start()]);
  runs = new DrivenRuns(pool, stub);
  kinds = workloads(stub.url);
  await runs.install(kinds);
}, 120_000);
afterAll(async () => {
  await pool.stop();
  await client.end();
  await stub.close();
  await postgres?.stop();
  await fallback?.drop();
  await rm(directory, { recursive: true, force: true });
});

/** Runs that the server holds and in which something acts now. */
async function heldBy(server: TestServer): Promise<string[]> {
  const { rows } = await client.query<{ run_id: string }>(
    `SELECT run_id FROM runs WHERE status = 'RUNNING' AND lease_owner LIKE '%:' || $1 || ':%' AND EXISTS (
       SELECT 1 FROM visits WHERE visits.run_id = runs.run_id AND visits.status = 'RUNNING'
          AND node_type IN ('agent', 'smartAction', 'http'))`,
    [server.pid],
  );
  return rows.map(({ run_id }) => run_id);
}

/** Two runs of every kind, with both servers at work on them. */
async function begin(): Promise<{ ended: Promise<unknown>; busy: TestServer; held: string[] }> {
  const all = [...kinds.all, ...kinds.all];
  const ended = Promise.all(all.map((workload) => runs.drive(workload)));
  for (const until = Date.now() + 60_000; ; await delay(10)) {
    for (const busy of pool.servers) {
      const held = await heldBy(busy);
      if (held.length >= 3) return { ended, busy, held };
    }
    if (Date.now() > until) throw new Error('no server got to work');
  }
}

async function judge(): Promise<string[]> {
  const problems: string[] = [];
  for (const run of runs.all.splice(0)) problems.push(...(await runs.judge(run)));
  return problems;
}

async function epochs(runIds: readonly string[]): Promise<number[]> {
  const { rows } = await client.query<{ lease_epoch: number }>(
    'SELECT lease_epoch FROM runs WHERE run_id = ANY($1) ORDER BY run_id',
    [[...runIds].sort()],
  );
  return rows.map(({ lease_epoch }) => lease_epoch);
}

async function countEvents(runIds: readonly string[]): Promise<number> {
  const { rows } = await client.query<{ events: number }>(
    'SELECT count(*)::integer AS events FROM run_events WHERE run_id = ANY($1)',
    [runIds],
  );
  return rows[0]?.events ?? 0;
}

/** Visits under way, as the keys of their acts. */
async function running(runIds: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ key: string }>(
    `SELECT concat_ws('/', variables ->> 'tag', node_id, iter_seq) AS key
       FROM visits JOIN runs USING (run_id) WHERE run_id = ANY($1) AND visits.status = 'RUNNING'`,
    [runIds],
  );
  return rows.map(({ key }) => key);
}

/** Times of the second and later attempts that the runs' events tell of. */
async function begunAgain(runIds: readonly string[]): Promise<number[]> {
  const { rows } = await client.query<{ at: Date }>(
    `SELECT at FROM run_events WHERE run_id = ANY($1) AND payload::jsonb ->> 'status' = 'RUNNING'
        AND (payload::jsonb ->> 'attempt')::integer > 1 AND payload NOT LIKE '%flaky%'`,
    [runIds],
  );
  return rows.map(({ at }) => at.getTime());
}

it('takes the runs of a killed server over once their leases have run out', async () => {
  const { ended, busy, held } = await begin();
  pool.remove(busy);
  await busy.kill9();
  const killed = Date.now();
  const before = await epochs(held);
  await busy.forget();
  await ended;
  expect(await judge()).toEqual([]);
  // A lease is renewed when a third of it has passed.
  const again = await begunAgain(held);
  expect(again.length).toBeGreaterThan(0);
  expect(Math.min(...again)).toBeGreaterThan(killed + ((LEASE_SECONDS * 2) / 3 - 0.5) * 1000);
  const after = await epochs(held);
  expect(after.filter((epoch, at) => epoch > (before[at] ?? 0)).length).toBeGreaterThan(0);
  await pool.start();
}, 180_000);

it('takes the runs of a hung server over, which then writes and does nothing more to them', async () => {
  const { ended, busy, held } = await begin();
  pool.remove(busy);
  process.kill(busy.pid, 'SIGSTOP');
  const begun = await running(held);
  await ended;
  expect(await judge()).toEqual([]);
  const events = await countEvents(held);
  const acts = stub.acts.length;

  process.kill(busy.pid, 'SIGCONT');
  // It has seen that it lost them when it has answered and renewed, which takes a third of a lease.
  expect((await fetch(`${busy.url}/health/ready`)).status).toBe(200);
  await delay((LEASE_SECONDS * 1000) / 3 + 500);
  expect(await heldBy(busy)).toEqual([]);
  expect(await countEvents(held)).toBe(events);
  // What was on its way to the outside when the server was stopped still gets there; nothing else begins.
  const late = stub.acts.slice(acts).map(({ key }) => key.replace(/#.*/, ''));
  expect(late.filter((key) => !begun.includes(key))).toEqual([]);
  expect(held.length).toBeGreaterThan(0);
  await busy.stop();
  await pool.start();
}, 180_000);

it('hands the runs of a server that stops over at once', async () => {
  const { ended, busy, held } = await begin();
  pool.remove(busy);
  const before = Date.now();
  await busy.stop();
  await ended;
  expect(await judge()).toEqual([]);
  const again = await begunAgain(held);
  if (again.length > 0) expect(Math.min(...again)).toBeGreaterThan(before);
}, 180_000);
