import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

const SCRIPT = path.join(import.meta.dirname, 'engine-process.js');
const START_MILLIS = 60_000;
/** So long after its time a slice may still be finishing. */
const LATE_MILLIS = 60_000;
/** Characters of what a process that ended said last. */
const MAX_SAID = 2_000;

/** An engine in a process of its own. */
export class MeasuredEngine {
  #child;

  constructor(child, name) {
    this.#child = child;
    this.name = name;
  }

  static async start(engineName, url) {
    const child = fork(SCRIPT, [engineName, url], {
      execArgv: ['--no-warnings'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child.said = '';
    child.stderr
      .setEncoding('utf8')
      .on('data', (text) => (child.said = (child.said + text).slice(-MAX_SAID)));
    const { name } = await answer(child, START_MILLIS);
    return new MeasuredEngine(child, name);
  }

  async measure(workload, millis) {
    this.#child.send({ workload, millis });
    const { samples } = await answer(this.#child, millis + LATE_MILLIS);
    return samples;
  }

  async close() {
    const exited = once(this.#child, 'exit');
    this.#child.disconnect();
    await exited;
  }
}

/** Rejects where the process ends, or says nothing in time. */
async function answer(child, maxMillis) {
  const stop = new AbortController();
  const { signal } = stop;
  const late = AbortSignal.any([signal, AbortSignal.timeout(maxMillis)]);
  try {
    return await Promise.race([
      once(child, 'message', { signal: late }).then(([message]) => message),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`the engine's process ended with ${code}: ${child.said}`);
      }),
    ]);
  } finally {
    stop.abort();
  }
}
