/**
 * `npm run bench`: this engine beside LangGraph, DBOS and Mastra on one PostgreSQL with synchronous commit, in one
 * run, medians and ratios in a table. The engines take turns in short slices, so that a disturbance of the machine hits
 * all alike; a round that does not count comes first. BENCH_DATABASE_URL names a server on which databases may be
 * created; without it the embedded PostgreSQL of the product is started in a temporary folder.
 * Options: --rounds N (5), --seconds N (3, a workload's share of a round), --engines a,b.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { buildWhenStale } from '../../scripts/build.js';
import { MeasuredEngine } from './measured-engine.js';
import { singleInserts } from './pgbench.js';
import { median } from './workloads.js';

const HERE = import.meta.dirname;
const ENGINES = ['agent-management', 'dbos', 'langgraph', 'mastra'];
const SLICE_MILLIS = 500;
const WORKLOADS = [
  ['w1', 'W1 chain of 10, one at a time, p50 ms'],
  ['w2', 'W2 the same, 64 in flight, visits/s'],
  ['w3', 'W3 1→50→1, p50 ms'],
  ['w4', 'W4 loop of 100 visits, p50 ms'],
];

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    engines: { type: 'string', default: ENGINES.join(',') },
  },
});

function installPeers() {
  if (existsSync(path.join(HERE, 'node_modules/@dbos-inc'))) return true;
  const { status } = spawnSync('npm', ['ci'], { cwd: HERE, stdio: 'inherit' });
  return status === 0;
}

async function openServer() {
  const given = process.env.BENCH_DATABASE_URL;
  if (given) return { url: given, close: async () => undefined };
  const { EmbeddedPostgres } = await import('../../dist/database/embedded/embedded-postgres.js');
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-postgres-'));
  const server = await EmbeddedPostgres.start(folder, pino({ level: 'error' }));
  const close = async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: server.url, close };
}

/** A database of its own for each engine. */
async function createDatabase(serverUrl, name) {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

function lastJsonLine(script, args) {
  const output = execFileSync(process.execPath, ['--no-warnings', path.join(HERE, script), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 * 1024 * 1024,
    timeout: 300_000,
  });
  return JSON.parse(output.trim().split('\n').at(-1));
}

/** Every workload's median by engine, in their order. */
async function measureRound(measured, seconds) {
  const figures = measured.map(() => ({}));
  for (const [workload] of WORKLOADS) {
    const samples = measured.map(() => []);
    for (let left = seconds * 1000; left > 0; left -= SLICE_MILLIS) {
      for (const [at, engine] of measured.entries()) {
        samples[at].push(...(await engine.measure(workload, Math.min(left, SLICE_MILLIS))));
      }
    }
    figures.forEach((one, at) => (one[workload] = median(samples[at])));
  }
  return figures;
}

function show(value) {
  return value < 10 ? value.toFixed(2) : value.toFixed(value < 100 ? 1 : 0);
}

function table(results) {
  const [ours, ...peers] = results;
  const names = results.map(({ name }) => name);
  const lines = [
    `| workload | ${names.join(' | ')} | ${peers.map(({ name }) => `ratio to ${name}`).join(' | ')} |`,
    `|---|${'---|'.repeat(names.length + peers.length)}`,
  ];
  for (const [key, title] of WORKLOADS) {
    const cells = results.map((one) => show(one[key]));
    const ratios = peers.map((peer) => {
      const ratio = ours[key] / peer[key];
      return `${ratio.toFixed(2)}×`;
    });
    lines.push(`| ${title} | ${cells.join(' | ')} | ${ratios.join(' | ')} |`);
  }
  return lines.join('\n');
}

function costTable({ chain, chain64, fan, loop, insertMillis, loopMillisPerVisit }) {
  const row = (title, { commits, walBytes, cpuMicrosPerVisit }) =>
    `| ${title} | ${commits.toFixed(1)} | ${(walBytes / 1024).toFixed(1)} | ${cpuMicrosPerVisit.toFixed(0)} |`;
  const visits = Object.entries(loopMillisPerVisit).map(
    ([count, ms]) => `${count} visits ${ms.toFixed(2)} ms`,
  );
  return [
    '| this engine | transactions a run | WAL KiB a run | CPU µs a visit |',
    '|---|---|---|---|',
    row('W1', chain),
    row('W2', chain64),
    row('W3', fan),
    row('W4', loop),
    '',
    `One durable insert: ${insertMillis.toFixed(3)} ms. Loop, time per visit: ${visits.join(', ')}.`,
  ].join('\n');
}

function limitLine(inserts) {
  if (!inserts) return 'pgbench is not installed: the limit of PostgreSQL itself was not measured.';
  const figures = inserts.map(({ clients, perSecond }) => `${clients} clients ${perSecond.toFixed(0)}`);
  return `pgbench, single durable inserts/s: ${figures.join(', ')}.`;
}

buildWhenStale();
const wanted = values.engines.split(',');
const peers = wanted.some((name) => name !== 'agent-management') && installPeers();
const engines = wanted.filter((name) => name === 'agent-management' || peers);
if (!peers) console.log('the peers are not measured: they could not be installed');
const server = await openServer();
try {
  const urls = new Map();
  for (const name of engines)
    urls.set(name, await createDatabase(server.url, `bench_${name.replace('-', '_')}`));
  const measured = [];
  for (const name of engines) measured.push(await MeasuredEngine.start(name, urls.get(name)));
  const rounds = [];
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    const figures = await measureRound(measured, Number(values.seconds));
    if (round === 0) continue;
    rounds.push(figures);
    console.error(`round ${round}: ${JSON.stringify(figures)}`);
  }
  await Promise.all(measured.map((engine) => engine.close()));
  const results = measured.map(({ name }, at) => {
    const medians = WORKLOADS.map(([key]) => [key, median(rounds.map((figures) => figures[at][key]))]);
    return { name, ...Object.fromEntries(medians) };
  });
  console.log(`\n${table(results)}\n`);
  console.log(costTable(lastJsonLine('costs.js', [await createDatabase(server.url, 'bench_costs')])));
  console.log(limitLine(await singleInserts(await createDatabase(server.url, 'bench_limit'))));
} finally {
  await server.close();
}
