import { fork, type ChildProcess } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { median } from '../load/run-load.js';
import type { FromServer, ToServer } from './sse-protocol.js';
import type { ReadersPlan, ReadersResult } from './sse-readers.js';

/**
 * `npm run bench:sse`: a thousand readers of fifty events a second, of a bare node:http server and of the product, in
 * turn. The product's events are made durable first; the bare server's are not stored at all.
 */
const READERS = Number(process.env.BENCH_READERS ?? 1_000);
const EVENTS_PER_SECOND = Number(process.env.BENCH_RATE ?? 50);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);

interface Round extends ReadersResult {
  rss: number;
  left: number;
}

class Server {
  readonly rounds: Round[] = [];
  private constructor(
    readonly name: string,
    private readonly child: ChildProcess,
    private readonly port: number,
  ) {}

  static async start(name: string, file: string): Promise<Server> {
    const child = fork(path.join(import.meta.dirname, file), { execArgv: ['--expose-gc'] });
    const ready = await heard(child, 'ready');
    return new Server(name, child, ready.port);
  }

  async round(seconds: number): Promise<Round> {
    this.#tell({ kind: 'open' });
    const { path: at } = await heard(this.child, 'opened');
    const plan: ReadersPlan = { port: this.port, path: at, readers: READERS };
    const worker = new Worker(new URL('./sse-readers.js', import.meta.url), { workerData: plan });
    await new Promise((resolve) => worker.once('message', resolve));
    const result = new Promise<ReadersResult>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    this.#tell({ kind: 'emit', eventsPerSecond: EVENTS_PER_SECOND, seconds });
    const read = await result;
    this.#tell({ kind: 'measure' });
    const { rss, readers: left } = await heard(this.child, 'measured');
    return { ...read, rss, left };
  }

  async stop(): Promise<void> {
    const exited = new Promise((resolve) => this.child.once('exit', resolve));
    this.#tell({ kind: 'stop' });
    await exited;
  }

  #tell(message: ToServer): void {
    this.child.send(message);
  }
}

function heard<K extends FromServer['kind']>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<FromServer, { kind: K }>> {
  return new Promise((resolve, reject) => {
    child.once('message', (message: FromServer) => {
      if (message.kind === kind) resolve(message as Extract<FromServer, { kind: K }>);
      else reject(new Error(`expected ${kind}, heard ${message.kind}`));
    });
    child.once('exit', (code) => reject(new Error(`a server ended with ${code ?? 'a signal'}`)));
  });
}

const rate = ({ delivered, millis }: Round): number => (delivered / millis) * 1000;
const lag = ({ lags }: Round, percent: number): number =>
  lags[Math.min(lags.length - 1, Math.floor((lags.length * percent) / 100))] ?? NaN;

function line({ name, rounds }: Server): string {
  const of = (value: (round: Round) => number, digits = 0): string =>
    median(rounds.map(value)).toFixed(digits);
  const lost = rounds.reduce(
    (sum, round) => sum + READERS * EVENTS_PER_SECOND * SECONDS - round.delivered,
    0,
  );
  const cells = [
    of(rate),
    of((round) => lag(round, 50)),
    of((round) => lag(round, 99)),
    of((round) => round.rss / 1024 ** 2),
    String(lost),
    String(Math.max(...rounds.map(({ left }) => left))),
  ];
  return `| ${[name, ...cells].join(' | ')} |`;
}

// The compiled configuration loader looks for config/ beside src/.
const config = path.resolve(import.meta.dirname, '../../config');
if (!existsSync(config)) symlinkSync(path.resolve('config'), config);
const bare = await Server.start('bare node:http', 'bare-server.js');
const product = await Server.start('the product', 'product-server.js');
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const server of [bare, product]) {
    // The first round only warms up.
    const measured = await server.round(round === 0 ? 2 : SECONDS);
    if (round > 0) server.rounds.push(measured);
  }
}
await bare.stop();
await product.stop();
const share = median(product.rounds.map(rate)) / median(bare.rounds.map(rate));
const lags =
  median(product.rounds.map((one) => lag(one, 99))) / median(bare.rounds.map((one) => lag(one, 99)));
process.stdout.write(
  [
    `${READERS} readers, ${EVENTS_PER_SECOND} events/s, median of ${ROUNDS} rounds of ${SECONDS} s, ` +
      `Node ${process.versions.node}, ${availableParallelism()} cores`,
    '',
    '| server | delivered/s | lag p50 ms | lag p99 ms | RSS afterwards MB | events lost | streams left open |',
    '|---|---|---|---|---|---|---|',
    line(bare),
    line(product),
    '',
    `delivered: ${share.toFixed(2)} of the bare server's (goal 0.95: ${share >= 0.95 ? 'held' : 'MISSED'}); ` +
      `lag p99: ${lags.toFixed(1)} times (goal 2: ${lags <= 2 ? 'held' : 'MISSED'})`,
    '',
  ].join('\n'),
);
