/** How an execution in this process came to its end. */
export type ExecutionEnd =
  /** The run has its terminal event. */
  | { kind: 'ended' }
  /** Everything in the run waits; it may be claimed again from then on. */
  | { kind: 'rests'; wakeAt: Date }
  /**
   * The lease was lost or given up, or something failed; another execution goes on from what is durable. `progressed`:
   * something in the run ended or came to wait before that.
   */
  | { kind: 'left'; reason: Error; progressed: boolean };
