import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const ROOT = path.resolve(import.meta.dirname, '../..');
const START_MILLIS = 60_000;
const STOP_MILLIS = 15_000;

export interface TestServerOptions {
  /** Where the server keeps its rows, such as a TestDatabase's url; default: an embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl?: string;
  /** Default: a temporary folder, removed by stop() and kill9() unless it was given. */
  readonly dataDir?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Becomes a CONFIG_FILE. */
  readonly configYaml?: string;
  /** As root: run as this user. */
  readonly uid?: number;
}

/** How a server process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The server did not get as far as listening. */
export class ServerDidNotStartError extends Error {
  constructor(
    readonly exit: Exit | null,
    readonly output: string,
  ) {
    super(
      `the server did not start (${exit ? `ended with ${exit.code ?? exit.signal}` : 'no line in time'}): ${output}`,
    );
    this.name = 'ServerDidNotStartError';
  }
}

/**
 * The real, built server in a process of its own: `node dist/main.js` on a free port. Every test that starts one ends
 * it with stop() or kill9().
 */
export class TestServer {
  private constructor(
    /** `http://127.0.0.1:port` */
    readonly url: string,
    readonly dataDir: string,
    private readonly child: ChildProcess,
    private readonly exited: Promise<Exit>,
    private readonly output: string[],
    private readonly temporary: string,
  ) {}

  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const temporary = await mkdtemp(path.join(tmpdir(), 'test-server-'));
    // As root, PostgreSQL runs as another user, who has to get there.
    await chmod(temporary, options.uid === undefined ? 0o711 : 0o777);
    const dataDir = options.dataDir ?? path.join(temporary, 'data');
    const environment: NodeJS.ProcessEnv = {
      PATH: process.env.PATH,
      NODE_ENV: 'test',
      PORT: '0',
      DATA_DIR: dataDir,
      ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
      ...options.environment,
    };
    if (options.configYaml !== undefined) {
      environment.CONFIG_FILE = path.join(temporary, 'config.yaml');
      await writeFile(environment.CONFIG_FILE, options.configYaml);
    }
    const child = spawn(process.execPath, [path.join(ROOT, 'dist/main.js')], {
      cwd: ROOT,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    });
    const output: string[] = [];
    const exited = new Promise<Exit>((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    try {
      const url = await listening(child, exited, output);
      return new TestServer(url, dataDir, child, exited, output, temporary);
    } catch (error) {
      await rm(temporary, { recursive: true, force: true });
      throw error;
    }
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Everything it has written so far. */
  logs(): string {
    return this.output.join('');
  }

  /** A request with the tests' API key and admin key; `body` is sent as JSON. */
  request(
    method: string,
    target: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return fetch(`${this.url}${target}`, {
      method,
      headers: {
        'X-API-Key': 'demo-key',
        'X-Admin-Key': 'demo-admin-key',
        'Content-Type': 'application/json',
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  }

  /** Pids of the server's child processes, and theirs. */
  descendants(): number[] {
    return descendantsOf(this.pid);
  }

  /** SIGTERM. Throws unless it ends with 0 in time and leaves no process behind. */
  async stop(): Promise<void> {
    const children = this.descendants();
    this.child.kill('SIGTERM');
    const exit = await this.#ended();
    const left = await stillAlive(children);
    await this.#cleanUp(left);
    if (exit?.code !== 0)
      throw new Error(`the server ended with ${exit?.code ?? exit?.signal ?? 'nothing'}: ${this.logs()}`);
    if (left.length > 0) throw new Error(`the server left processes behind: ${left.join(', ')}`);
  }

  /** SIGKILL to the server alone, as a crash would; gives the pids of the children it had. The data folder stays. */
  async kill9(): Promise<number[]> {
    const children = this.descendants();
    this.child.kill('SIGKILL');
    await this.exited;
    return children;
  }

  /** How it ends by itself. */
  exit(): Promise<Exit> {
    return this.exited;
  }

  /** Removes the temporary data folder of a server that was killed. */
  async forget(): Promise<void> {
    await rm(this.temporary, { recursive: true, force: true });
  }

  async #ended(): Promise<Exit | null> {
    const timer = new AbortController();
    const late = delay(STOP_MILLIS, null, { signal: timer.signal }).catch(() => null);
    const exit = await Promise.race([this.exited, late]);
    timer.abort();
    if (!exit) this.child.kill('SIGKILL');
    return exit;
  }

  async #cleanUp(left: readonly number[]): Promise<void> {
    for (const pid of left) process.kill(pid, 'SIGKILL');
    await this.forget();
  }
}

function listening(child: ChildProcess, exited: Promise<Exit>, output: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new ServerDidNotStartError(null, output.join('')));
    }, START_MILLIS);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output.push(text);
      said += text;
      const url = /^listening on (http:\S+)$/m.exec(said)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => output.push(text));
    void exited.then((exit) => {
      clearTimeout(timer);
      reject(new ServerDidNotStartError(exit, output.join('')));
    });
  });
}

function descendantsOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name)) parents.set(Number(name), parentOf(Number(name)));
  }
  const found = new Set([root]);
  for (let size = 0; size !== found.size;) {
    size = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  }
  found.delete(root);
  return [...found];
}

/** Some tens of milliseconds pass between the end of a server and that of the children it has told to end. */
async function stillAlive(pids: readonly number[]): Promise<number[]> {
  for (const until = Date.now() + 2_000; ; await delay(20)) {
    const left = pids.filter((pid) => parentOf(pid) !== -1);
    if (left.length === 0 || Date.now() > until) return left;
  }
}

/** -1 for a process that is gone, or ended and only not yet awaited. */
function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = 'X', parent = '-1'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? -1 : Number(parent);
  } catch {
    return -1;
  }
}
