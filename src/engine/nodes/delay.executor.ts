import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';

/**
 * `delay`: goes on after so many seconds. The moment is fixed when the visit begins to wait and stored with it, so
 * a restart neither shortens nor prolongs it.
 */
export class DelayExecutor implements NodeExecutor {
  readonly type = 'delay';

  execute({ node, waited }: NodeVisit): Promise<NodeResult> {
    const { seconds } = node.data as { seconds: number };
    const until =
      typeof waited?.until === 'string' ? new Date(waited.until) : new Date(Date.now() + seconds * 1000);
    if (until.getTime() <= Date.now()) return Promise.resolve({ kind: 'completed', data: {} });
    const waitingFor = waited ?? { kind: 'time', until: until.toISOString() };
    return Promise.resolve({ kind: 'waiting', waitingFor, wakeAt: until });
  }
}
