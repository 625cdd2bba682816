/**
 * jest's Node environment, and a test file fails that leaves something behind which keeps the process alive: a timer,
 * a child process, a server, a connection. What was there before the file began does not count.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { TestEnvironment } from 'jest-environment-node';

const WATCHED = {
  ProcessWrap: 'child process',
  TCPServerWrap: 'listening TCP server',
  PipeServerWrap: 'listening socket file',
  TCPSocketWrap: 'TCP connection',
  PipeWrap: 'socket or pipe',
  FSEventWrap: 'file watcher',
  MessagePort: 'worker thread or message port',
};
/** What is closed without being awaited (a socket's last round trip) is gone within that. */
const GRACE_MILLIS = 1_500;

const count = () => {
  const counts = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

export default class LeakEnvironment extends TestEnvironment {
  /** Timers of the test file, with the stack that set each: jest's own cannot be told apart by counting. */
  timers = new Map();

  async setup() {
    await super.setup();
    // Node opens the worker's own pipes at their first use; the file that happens to write first must not pay for it.
    for (const name of ['stdout', 'stderr']) void process[name];
    this.before = count();
    for (const name of ['setTimeout', 'setInterval']) this.watchTimers(name);
  }

  watchTimers(name) {
    const original = this.global[name];
    const watched = (...args) => {
      const timer = original(...args);
      this.timers.set(timer, new Error(name).stack?.split('\n').slice(2, 5).join('\n') ?? name);
      if (this.timers.size % 1_000 === 0) this.forgetEndedTimers();
      return timer;
    };
    this.global[name] = Object.defineProperties(watched, Object.getOwnPropertyDescriptors(original));
  }

  forgetEndedTimers() {
    for (const timer of this.timers.keys())
      if (timer._destroyed || !timer.hasRef()) this.timers.delete(timer);
  }

  async handleTestEvent(event, state) {
    if (event.name !== 'run_finish') return;
    const leaks = await this.leaks();
    if (leaks.length > 0) {
      state.unhandledErrors.push(`the test file left behind: ${leaks.join(', ')}`);
    }
  }

  async leaks() {
    for (const until = Date.now() + GRACE_MILLIS; ; await delay(25)) {
      this.forgetEndedTimers();
      const now = count();
      const resources = Object.entries(WATCHED)
        .map(([kind, name]) => [name, (now[kind] ?? 0) - (this.before[kind] ?? 0)])
        .filter(([, more]) => more > 0)
        .map(([name, more]) => `${more} × ${name}`);
      const leaks = [...resources, ...[...this.timers.values()].map((stack) => `a timer set\n${stack}\n`)];
      if (leaks.length === 0 || Date.now() > until) return leaks;
    }
  }
}
