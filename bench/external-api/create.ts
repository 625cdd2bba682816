import { fork, type ChildProcess } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { median } from '../load/run-load.js';
import type { PostPlan, PostResult } from './post-load.js';

/**
 * `npm run bench:create`: durable creation of runs beside a Nest POST that stores nothing, in turn, with 64
 * connections that send one request after the other.
 */
const CONNECTIONS = 64;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 8);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);

interface Target {
  name: string;
  child: ChildProcess;
  port: number;
  path: string;
  rounds: PostResult[];
}

async function start(name: string, file: string): Promise<Target> {
  const child = fork(path.join(import.meta.dirname, file));
  const ready = await new Promise<{ port: number; path: string }>((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code ?? 'a signal'}`)));
  });
  return { name, child, ...ready, rounds: [] };
}

async function load(target: Target, seconds: number): Promise<PostResult> {
  const plan: PostPlan = { port: target.port, path: target.path, connections: CONNECTIONS, seconds };
  const worker = new Worker(new URL('./post-load.js', import.meta.url), { workerData: plan });
  const result = await new Promise<PostResult>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  if (result.failures > 0) throw new Error(`${target.name}: ${result.failures} requests failed`);
  return result;
}

// The compiled configuration loader looks for config/ beside src/.
const config = path.resolve(import.meta.dirname, '../../config');
if (!existsSync(config)) symlinkSync(path.resolve('config'), config);
const targets = [
  await start('bare Nest POST', 'bare-nest.js'),
  await start('durable creation of a run', 'create-server.js'),
];
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const target of targets) {
    // The first round only warms up.
    const result = await load(target, round === 0 ? 3 : SECONDS);
    if (round > 0) target.rounds.push(result);
  }
}
for (const { child } of targets) child.send('stop');
const rates = targets.map(({ rounds }) => median(rounds.map(({ requests }) => requests / SECONDS)));
const at = ({ rounds }: Target, share: number): string =>
  median(rounds.map(({ latencies }) => latencies[Math.floor(latencies.length * share)] ?? NaN)).toFixed(1);
const [bare = NaN, created = NaN] = rates;
process.stdout.write(
  [
    `${CONNECTIONS} connections, median of ${ROUNDS} rounds of ${SECONDS} s, Node ${process.versions.node}, ${availableParallelism()} cores`,
    '',
    '| server | requests/s | p50 ms | p99 ms |',
    '|---|---|---|---|',
    ...targets.map(
      (target, index) =>
        `| ${target.name} | ${(rates[index] ?? NaN).toFixed(0)} | ${at(target, 0.5)} | ${at(target, 0.99)} |`,
    ),
    '',
    `${(created / bare).toFixed(2)} of the bare POST's requests/s (goal 0.5: ${created / bare >= 0.5 ? 'held' : 'MISSED'})`,
    '',
  ].join('\n'),
);
