import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import { failureOf } from '../protocol/failure-classification.js';
import { finalEvent } from '../protocol/final-events.js';
import { pause } from '../protocol/pause.js';
import { refusedResponse } from '../protocol/runtime-unavailable.js';
import type { CallLedger } from './call-ledger.js';
import { isOpen } from './call-status.js';
import { CommandConflictError } from './command-conflict.error.js';
import type { InFlightCall } from './in-flight-calls.js';
import type { RuntimeCallEntity } from './runtime-call.entity.js';
import { storedResponse } from './stored-response.js';

/** How often another process's call is looked at. */
const POLL_MILLIS = 250;

/** Answers a command that was sent before with the first call's end; never sends anything. */
export class RepeatedCall {
  constructor(
    private readonly ledger: CallLedger,
    private readonly now: () => Date,
  ) {}

  /** Waits for a call of this process. Throws CommandConflictError, or the signal's reason. */
  async *ofCallHere(
    first: InFlightCall,
    digest: string,
    signal: AbortSignal,
  ): AsyncGenerator<AgentRuntimeEvent> {
    if (first.requestDigest !== digest) throw new CommandConflictError(first.commandId);
    yield { type: 'runtime.requested', commandId: first.commandId };
    yield finalEvent(await unlessAborted(first.ended, signal));
  }

  /** Waits for a call that the ledger knows, at most until its deadline. */
  async *ofStoredCall(
    commandId: string,
    digest: string,
    signal: AbortSignal,
  ): AsyncGenerator<AgentRuntimeEvent> {
    let call = await this.#find(commandId);
    if (call.requestDigest !== digest) throw new CommandConflictError(commandId);
    yield { type: 'runtime.requested', commandId };
    while (isOpen(call.status) && this.now() < call.deadlineAt) {
      await pause(POLL_MILLIS, signal);
      call = await this.#find(commandId);
    }
    if (isOpen(call.status)) {
      const failure = failureOf('outcome_unknown', 'the call did not end before its deadline');
      yield finalEvent({
        ...refusedResponse(call.provider, failure),
        providerRequestId: call.providerRequestId,
      });
      return;
    }
    yield finalEvent(storedResponse(call, await this.ledger.output(commandId)));
  }

  async #find(commandId: string): Promise<RuntimeCallEntity> {
    const call = await this.ledger.find(commandId);
    if (!call) throw new Error(`the call ${commandId} has left the ledger`);
    return call;
  }
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
