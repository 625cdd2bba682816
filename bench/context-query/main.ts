import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import type { DataSource } from 'typeorm';
import { loadConfig } from '../../src/config/load-config.js';
import { VisitRecords } from '../../src/context-query/records/visit-records.js';
import { openDatabase } from '../../src/database/open-database.js';
import { RunEventStore } from '../../src/events/run-event-store.js';
import type { LoadResult, PlannedRequest } from '../load/load-plan.js';
import { median, percentile, runLoad } from '../load/run-load.js';
import { startBenchServer, type BenchServer } from './bench-server.js';
import { askerOf, plainRun, worstRun, type Asker, type AskingRun } from './example-runs.js';
import { storeRuns } from './store-runs.js';

/**
 * `npm run bench:context`: what a context query costs on top of a route that does nothing, at a fixed rate, with a
 * thousand runs of fifty visits. Rounds alternate between all scenarios, so that a disturbance hits all alike.
 */
const RUNS = Number(process.env.BENCH_RUNS ?? 1_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const RUNS_A_BATCH = 20;
const REQUESTS_PER_SECOND = Number(process.env.BENCH_RATE ?? 200);

interface Scenario {
  readonly name: string;
  readonly url: string;
  readonly requests: readonly PlannedRequest[];
  /** What p99 may be: so many milliseconds above the idle route, or so many times another scenario's. */
  readonly goal: { readonly above: number } | { readonly times: number; readonly of: string } | null;
  readonly results: LoadResult[];
}

/** Lets runs happen: into the database and over the bus. Of the runs themselves nothing is kept. */
async function record(
  count: number,
  make: () => AskingRun,
  dataSource: DataSource,
  server: BenchServer,
): Promise<Asker[]> {
  const askers: Asker[] = [];
  while (askers.length < count) {
    const some = Array.from({ length: Math.min(RUNS_A_BATCH, count - askers.length) }, make);
    await storeRuns(
      dataSource,
      some.map(({ run }) => run),
    );
    for (const { run } of some) for (const event of run.events) server.bus.publish(event);
    askers.push(...some.map(askerOf));
  }
  return askers;
}

type Query = 'path' | 'output' | 'meta';

function requestsOf(server: BenchServer, askers: readonly Asker[], query: Query): PlannedRequest[] {
  return askers.map(({ runId, caller, askedNodeId }) => {
    const notAfter = new Date(Date.now() + 3_600_000);
    const issued = server.tokens.issue({ runId, ...caller, notAfter });
    if (!issued) throw new Error('no token was issued');
    const asked = query === 'path' ? { visitUuid: caller.visitUuid } : { nodeId: askedNodeId, kind: 'ALL' };
    return {
      headers: { 'Content-Type': 'application/json', 'X-Context-Token': issued.token },
      body: JSON.stringify({ runId, ...asked }),
    };
  });
}

function scenario(
  name: string,
  server: BenchServer,
  askers: readonly Asker[],
  query: Query,
  goal: Scenario['goal'],
): Scenario {
  const url = `${server.url}/internal/context/${query}`;
  return { name, url, requests: requestsOf(server, askers, query), goal, results: [] };
}

function report(scenarios: readonly Scenario[]): string {
  const p = (of: Scenario | undefined, percent: number): number =>
    median((of?.results ?? []).map((result) => percentile(result, percent)));
  const idle = p(scenarios[0], 99);
  const verdict = (goal: Scenario['goal'], p99: number): string => {
    if (!goal) return '';
    if ('above' in goal) return `+${goal.above} ms ${p99 - idle <= goal.above ? 'held' : 'MISSED'}`;
    const times =
      p99 /
      p(
        scenarios.find(({ name }) => name === goal.of),
        99,
      );
    return `${goal.times} × ${goal.of}: ${times.toFixed(1)} × ${times <= goal.times ? 'held' : 'MISSED'}`;
  };
  const lines = scenarios.map((each) => {
    const [p50, p99] = [p(each, 50), p(each, 99)];
    const bytes = each.results[0]?.answerBytes ?? 0;
    const cells = [p50, p99, p99 - idle].map((millis) => millis.toFixed(2));
    return `| ${[each.name, bytes, ...cells, verdict(each.goal, p99)].join(' | ')} |`;
  });
  return [
    '| query | answer bytes | p50 ms | p99 ms | p99 above the idle route, ms | goal |',
    '|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}

const dataDir = await mkdtemp(path.join(tmpdir(), 'bench-context-'));
const loaded = loadConfig(
  {
    NODE_ENV: 'test',
    DATA_DIR: dataDir,
    DATABASE_URL: process.env.DATABASE_URL,
    HERMES_CONTEXT_QUERY_TOKEN_TTL_SECONDS: '3600',
    HERMES_CONTEXT_QUERY_MEMORY_LIMIT: '1gb',
  },
  path.resolve('config'),
);
const silent = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
};
const database = await openDatabase(loaded.config, silent as never);
try {
  const { dataSource } = database;
  const memory = await startBenchServer(loaded, database, null);
  const plain = await record(RUNS, plainRun, dataSource, memory);
  const worst = await record(20, worstRun, dataSource, memory);
  await dataSource.query('VACUUM ANALYZE visits, run_events');
  const records = new VisitRecords(dataSource, new RunEventStore(dataSource));
  const stored = await startBenchServer(loaded, database, records);

  const scenarios: Scenario[] = [
    { ...scenario('a route that does nothing', memory, plain, 'path', null), url: `${memory.url}/nothing` },
    scenario('path, memory', memory, plain, 'path', { above: 1.25 }),
    scenario('path, database', stored, plain, 'path', { above: 12 }),
    scenario('output, memory', memory, plain, 'output', { above: 0.75 }),
    scenario('output, database', stored, plain, 'output', { above: 8 }),
    scenario('meta ALL, memory', memory, plain, 'meta', { above: 2.5 }),
    scenario('meta ALL, database', stored, plain, 'meta', { above: 12 }),
    scenario('path of 2^20, memory', memory, worst, 'path', { times: 2, of: 'path, memory' }),
    scenario('path of 2^20, database', stored, worst, 'path', { times: 2, of: 'path, database' }),
  ];
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { url, requests, results } of scenarios) {
      // The first round only warms up.
      const seconds = round === 0 ? 1 : SECONDS;
      const result = await runLoad({ url, requests, requestsPerSecond: REQUESTS_PER_SECOND, seconds });
      if (round > 0) results.push(result);
    }
  }
  const held = Math.round(memory.index.bytes / 1024 ** 2);
  process.stdout.write(
    `${RUNS} runs of 50 visits in memory (${held} MB by the index's estimate), ${REQUESTS_PER_SECOND} requests/s, ` +
      `median of ${ROUNDS} rounds of ${SECONDS} s, Node ${process.versions.node}, ${availableParallelism()} cores\n\n` +
      `${report(scenarios)}\n`,
  );
  await memory.close();
  await stored.close();
} finally {
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
}
