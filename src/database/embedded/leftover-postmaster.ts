import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

/** How a postmaster is asked to end, gently first, and how long each way may take. */
const WAYS: readonly (readonly [NodeJS.Signals, number])[] = [
  ['SIGINT', 20_000],
  ['SIGQUIT', 10_000],
  ['SIGKILL', 5_000],
];

/**
 * Ends a PostgreSQL whose server was killed (decision 46) and removes what such a one, or a crash of the machine,
 * left in `postmaster.pid`. The caller holds the data folder's lock, so no living server uses this cluster. A process
 * id is only trusted when that process runs on this very folder: it may belong to somebody else by now.
 */
export async function endLeftoverPostmaster(data: string, log: (message: string) => void): Promise<void> {
  const file = path.join(data, 'postmaster.pid');
  const pid = await readPid(file);
  if (pid === undefined) return;
  if (await runsOn(pid, data)) {
    log(`ending PostgreSQL (process ${pid}), which outlived its server`);
    await end(pid, data);
  }
  await rm(file, { force: true });
}

async function readPid(file: string): Promise<number | undefined> {
  try {
    const [line = ''] = (await readFile(file, 'utf8')).split('\n');
    const pid = Math.abs(Number.parseInt(line, 10));
    return pid > 1 ? pid : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function end(pid: number, data: string): Promise<void> {
  for (const [signal, millis] of WAYS) {
    send(pid, signal);
    for (const until = Date.now() + millis; Date.now() < until; await delay(25)) {
      if (!(await runsOn(pid, data))) return;
    }
  }
  throw new Error(`PostgreSQL (process ${pid}), which outlived its server, does not end`);
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** By its command line, which anybody may read; that of an ended process that nobody awaited is empty. */
async function runsOn(pid: number, data: string): Promise<boolean> {
  const command = await commandLine(pid);
  return command.includes(data) && command.includes('postgres');
}

async function commandLine(pid: number): Promise<string> {
  try {
    if (process.platform === 'linux') return await readFile(`/proc/${pid}/cmdline`, 'utf8');
    const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
    return stdout;
  } catch {
    // No such process: /proc has no such folder, ps fails.
    return '';
  }
}
