import type { HeldRun, OpeningRun } from '../../runs/leases/run-leases.js';

/** Brings runs to execution: in this process, or through a queue shared by several. */
export interface RunDispatcher {
  /** Whether a run would be executed here at once; it may then be started and taken in one step. */
  readonly hasRoom: boolean;
  /**
   * The run may be executed now. Returns at once; a run that is dispatched twice is executed once.
   * `held`: this process holds it already.
   */
  dispatch(runId: string, held?: HeldRun): void;
  /** Executes a run that its first entry starts. Whether it did; if not, nothing of it is under way here any more. */
  open(held: OpeningRun): Promise<boolean>;
  /** Begins to look for runs that nobody holds. */
  start(): Promise<void>;
  /** Takes no run any more and leaves those it has. */
  stop(): Promise<void>;
}
