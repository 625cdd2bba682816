/** What a run costs this engine: `node costs.js DATABASE_URL`; prints one JSON line. */
import pg from 'pg';
import { openEngine } from './agent-management.js';
import { median } from './workloads.js';

const [, , url] = process.argv;
const engine = await openEngine(url, { maxVisitsPerRun: 2000 });
const client = new pg.Client({ connectionString: url });
await client.connect();

async function counters() {
  const { rows } = await client.query(
    `SELECT xact_commit::integer AS commits, (pg_current_wal_lsn() - '0/0')::bigint::text AS wal
       FROM pg_stat_database WHERE datname = current_database()`,
  );
  return { commits: rows[0].commits, wal: Number(rows[0].wal) };
}

async function sideBySide(run, times, inFlight) {
  let begun = 0;
  const worker = async () => {
    while (begun < times) {
      begun += 1;
      await run();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

/** A session reports what it did with the first transaction that ends a second after its last report. */
async function report(run, inFlight) {
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await sideBySide(run, inFlight, inFlight);
}

async function cost(run, times, inFlight, visits) {
  await sideBySide(run, times, inFlight);
  await report(run, inFlight);
  const before = await counters();
  const cpuBefore = process.cpuUsage();
  await sideBySide(run, times, inFlight);
  const cpu = process.cpuUsage(cpuBefore);
  await report(run, inFlight);
  const after = await counters();
  const runs = times + inFlight;
  return {
    commits: (after.commits - before.commits) / runs,
    walBytes: (after.wal - before.wal) / runs,
    cpuMicrosPerVisit: (cpu.user + cpu.system) / times / visits,
  };
}

/** The physical floor: one durable row, one connection. */
async function durableInsert() {
  await client.query(
    'CREATE TABLE IF NOT EXISTS bench_floor (id bigserial PRIMARY KEY, payload text NOT NULL)',
  );
  const millis = [];
  for (let at = 0; at < 500; at += 1) {
    const began = performance.now();
    await client.query({
      name: 'floor',
      text: 'INSERT INTO bench_floor (payload) VALUES ($1)',
      values: ['x'.repeat(200)],
    });
    millis.push(performance.now() - began);
  }
  return median(millis);
}

async function perVisit(visits, times) {
  const millis = [];
  for (let at = 0; at < times; at += 1) {
    const began = performance.now();
    await engine.loopOf(visits);
    millis.push((performance.now() - began) / visits);
  }
  return median(millis);
}

await engine.loopOf(100);
console.log(
  JSON.stringify({
    chain: await cost(engine.chain, 100, 1, 10),
    chain64: await cost(engine.chain, 1500, 64, 10),
    fan: await cost(engine.fan, 50, 1, 52),
    loop: await cost(engine.loop, 20, 1, 100),
    insertMillis: await durableInsert(),
    loopMillisPerVisit: {
      100: await perVisit(100, 10),
      200: await perVisit(200, 6),
      2000: await perVisit(2000, 3),
    },
  }),
);
await client.end();
await engine.close();
process.exit(0);
