import type { RunLeases } from '../../runs/leases/run-leases.js';
import type { RunDispatcher } from '../dispatch/run-dispatcher.js';
import type { ExecutionRegistry } from './execution-registry.js';

/** Lets a run's waiting visits look again whether what they wait for has come, wherever the run is. */
export class WakeRun {
  constructor(
    private readonly leases: RunLeases,
    private readonly registry: ExecutionRegistry,
    private readonly dispatcher: RunDispatcher,
  ) {}

  async execute(runId: string): Promise<void> {
    await this.afterWake(runId, await this.leases.wake(runId));
  }

  /** What follows once the call is stored; `rested` as RunLeases.wake gives it. A crash before it loses only time. */
  async afterWake(runId: string, rested: boolean): Promise<void> {
    // Held by another process, it sees the call when it renews its lease.
    if (!rested && this.registry.find(runId)) await this.registry.renew();
    // Also where it was held: it may have lain down since. One that is held cannot be claimed.
    this.dispatcher.dispatch(runId);
  }
}
