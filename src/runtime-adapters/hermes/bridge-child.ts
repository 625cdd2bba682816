import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { BridgeEndpoint } from './bridge-endpoint.js';
import { relayLog, type HermesLogger } from './child-log.js';

/** Longest time from the start of the process to the line with its port. */
const START_MILLIS = 20_000;

/**
 * One bridge process. Its standard input is a pipe whose other end only this process holds: when this process
 * dies, however, the pipe closes and the bridge exits.
 */
export class BridgeChild {
  /** Resolves once it listens; rejects when it ends first, or does not listen in time. */
  readonly ready: Promise<BridgeEndpoint>;
  /** Resolves with how it ended. */
  readonly exited: Promise<string>;
  readonly #process: ChildProcessByStdio<Writable, Readable, Readable>;
  #running = true;

  constructor(options: {
    entry: string;
    environment: NodeJS.ProcessEnv;
    secret: string;
    logger: HermesLogger;
    redact: (line: string) => string;
  }) {
    const child = spawn(process.execPath, [options.entry], {
      env: options.environment,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#process = child;
    // Writing to or closing the pipe of a process that has just died is no error of ours.
    child.stdin.on('error', () => undefined);
    this.exited = new Promise((resolve) => {
      const end = (how: string): void => {
        this.#running = false;
        resolve(how);
      };
      child.once('error', (error) => end(`it cannot be started: ${error.message}`));
      child.once('exit', (code, signal) => end(signal ? `killed by ${signal}` : `exit code ${code}`));
    });
    relayLog(child.stderr, { logger: options.logger, pid: child.pid ?? 0, redact: options.redact });
    this.ready = this.#announced().then((port) => ({
      url: `http://127.0.0.1:${port}`,
      secret: options.secret,
    }));
    // Who waits for it is told; nobody has to.
    this.ready.catch(() => undefined);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get isRunning(): boolean {
    return this.#running;
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  /** Closes its input and tells it to end; kills it after `graceMillis`. Resolves once it is gone. */
  async stop(graceMillis: number): Promise<void> {
    if (!this.#running) return;
    this.#process.stdin.end();
    this.#process.kill('SIGTERM');
    const timer = setTimeout(() => this.kill(), graceMillis);
    await this.exited;
    clearTimeout(timer);
  }

  async #announced(): Promise<number> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        this.kill();
        reject(new Error(`the bridge did not listen within ${START_MILLIS / 1000} s`));
      }, START_MILLIS);
    });
    const ended = this.exited.then((how) => {
      throw new Error(`the bridge ended before it listened: ${how}`);
    });
    const lines = createInterface({ input: this.#process.stdout });
    const line = new Promise<number>((resolve, reject) => {
      lines.once('line', (text) => {
        const port = portIn(text);
        if (port) resolve(port);
        else reject(new Error('the bridge printed something else than its port'));
      });
    });
    try {
      return await Promise.race([line, ended, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function portIn(line: string): number | null {
  try {
    const { port } = JSON.parse(line) as { port?: unknown };
    return typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536 ? port : null;
  } catch {
    return null;
  }
}
