import type { Logger } from 'pino';
import type { RunLease, RunLeases } from '../../runs/leases/run-leases.js';
import type { ExecutionEnd } from './execution-end.js';
import { LeftOnPurposeError } from './left-on-purpose.js';
import type { RunExecution } from './run-execution.js';

interface Held {
  execution: RunExecution;
  lease: RunLease;
}

/**
 * The runs that this process executes right now. Renews their leases together, in one statement, and makes an
 * execution whose lease is lost stop at once.
 */
export class ExecutionRegistry {
  readonly #held = new Map<string, Held>();
  #timer: NodeJS.Timeout | null = null;
  /** Set once this process stops: what begins after that leaves at once. */
  #leaving: Error | null = null;

  constructor(
    private readonly leases: RunLeases,
    private readonly logger: Logger,
  ) {}

  get size(): number {
    return this.#held.size;
  }

  find(runId: string): RunExecution | null {
    return this.#held.get(runId)?.execution ?? null;
  }

  /** Executes the run to its end in this process and gives back its lease if it was left. */
  async run(execution: RunExecution, lease: RunLease): Promise<ExecutionEnd> {
    this.#held.set(lease.runId, { execution, lease });
    this.#renewRegularly();
    try {
      if (this.#leaving) execution.leave(this.#leaving);
      const end = await execution.execute();
      if (end.kind === 'left') {
        // Whoever comes next must not act beside nodes that have not stopped yet.
        await execution.stopped();
        await this.release(lease);
      }
      return end;
    } finally {
      if (this.#held.get(lease.runId)?.execution === execution) this.#held.delete(lease.runId);
      this.#renewRegularly();
    }
  }

  /** Only while there is something to renew. */
  #renewRegularly(): void {
    if (this.#held.size > 0) {
      this.#timer ??= setInterval(() => void this.renew(), (this.leases.leaseSeconds * 1000) / 3);
    } else if (this.#timer) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
  }

  /** Prolongs every lease; an execution whose lease is gone is left, one that was called wakes. */
  async renew(): Promise<void> {
    const held = [...this.#held.values()].filter(({ lease }) => isTaken(lease));
    if (held.length === 0) return;
    try {
      const heldUntil = this.leases.heldUntil();
      const renewed = await this.leases.renew(held.map(({ lease }) => lease));
      for (const { execution, lease } of held) {
        const wakes = renewed.get(lease.runId);
        if (wakes !== undefined) execution.prolong(heldUntil);
        // A rest that is being stored gives the lease back; what is refused ends it anyway.
        if (wakes === undefined && execution.isLyingDown) continue;
        if (wakes === undefined) execution.leave(new LeftOnPurposeError('the lease was lost'));
        else if (wakes > lease.wakes) await execution.wake(wakes);
      }
    } catch (error) {
      // Writes are fenced by the epoch, and no node begins to act once the lease has run out.
      this.logger.warn({ err: error }, 'leases could not be renewed');
    }
  }

  /** Leaves every run where it is; others, or the next start, go on from there. */
  async leaveAll(reason: LeftOnPurposeError): Promise<void> {
    this.#leaving = reason;
    const held = [...this.#held.values()];
    for (const { execution } of held) execution.leave(reason);
    await Promise.all(held.map(({ execution }) => execution.stopped()));
  }

  /** Gives a lease back; one that cannot be given back runs out. */
  async release(lease: RunLease): Promise<void> {
    await lease.opening?.close();
    if (!isTaken(lease)) return;
    try {
      await this.leases.release([lease]);
    } catch (error) {
      this.logger.warn({ err: error, runId: lease.runId }, 'a lease could not be given back; it runs out');
    }
  }
}

/** Until its first entry is stored, a lease with an opening is none: what stands in the database is somebody else's. */
function isTaken({ opening }: RunLease): boolean {
  return opening === undefined || opening.isStored;
}
