import {
  BridgeSupervisor,
  type SupervisorOptions,
} from '../../../src/runtime-adapters/hermes/bridge-supervisor.js';
import { compiledBridge } from './compiled-bridge.js';
import { PATIENCE_MILLIS } from '../patience.js';

export type Settings = Awaited<ReturnType<SupervisorOptions['settings']>>;

export interface SupervisedBridge {
  readonly supervisor: BridgeSupervisor;
  /** Lines of the server's log, as JSON text. */
  readonly log: string[];
  /** What the next call reads; change it to rotate a key. */
  settings: Settings;
}

/** A supervisor with short times, not started yet. */
export async function supervisedBridge(options: Partial<SupervisorOptions> = {}): Promise<SupervisedBridge> {
  const log: string[] = [];
  const note =
    (level: string) =>
    (fields: object, message: string): void =>
      void log.push(JSON.stringify({ level, message, ...fields }));
  const bridge: { settings: Settings } = {
    settings: { llm: null, llmProblem: null, maxToolCalls: 50, allowDemo: true, logLevel: 'debug' },
  };
  const supervisor = new BridgeSupervisor({
    entry: await compiledBridge(),
    settings: () => Promise.resolve(bridge.settings),
    logger: { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
    redact: (text) => text,
    environment: process.env,
    ...options,
    timing: {
      backoff: 20,
      longestBackoff: 200,
      probeEvery: 100,
      probeTimeout: 5_000,
      grace: 300,
      ...options.timing,
    },
  });
  return Object.assign(bridge, { supervisor, log });
}

/** Waits until a condition holds; fails with what was waited for. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const until = performance.now() + PATIENCE_MILLIS;
  while (!(await holds())) {
    if (performance.now() > until) throw new Error(`still not: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
