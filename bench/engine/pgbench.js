/** PostgreSQL's own limit, where Debian's `pgbench` is installed: single durable inserts a second. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';

const CLIENTS = [1, 16, 64];
const SECONDS = 3;

/** `null` where pgbench is not installed, else inserts/s by the number of clients. */
export async function singleInserts(url) {
  if (spawnSync('pgbench', ['--version']).error) return null;
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-pgbench-'));
  const insert = path.join(folder, 'insert.sql');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE TABLE bench_inserts (id bigserial PRIMARY KEY, payload text NOT NULL)');
  await client.end();
  writeFileSync(insert, `INSERT INTO bench_inserts (payload) VALUES (repeat('x', 200));\n`);
  try {
    return CLIENTS.map((clients) => ({ clients, perSecond: measure(insert, clients, url) }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function measure(insert, clients, url) {
  const load = [
    '--client',
    String(clients),
    '--jobs',
    String(Math.min(clients, 2)),
    '--time',
    String(SECONDS),
  ];
  const options = ['--no-vacuum', '--protocol', 'prepared', '--file', insert, ...load, url];
  const output = execFileSync('pgbench', options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return Number(/^tps = ([\d.]+)/m.exec(output)?.[1]);
}
