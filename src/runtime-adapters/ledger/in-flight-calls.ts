import type { AgentRuntimeResponse } from '../protocol/agent-runtime-response.js';

/** A call that this process executes now; repeats of its command wait for its end. */
export interface InFlightCall {
  readonly commandId: string;
  readonly requestDigest: string;
  /** Rejects where the call's end could not be recorded. */
  readonly ended: Promise<AgentRuntimeResponse>;
  /**
   * The ledger had the command already: another process has sent it, or this one before a restart, and this call only
   * waits for its end. Whoever settles orphans must not take it for the one that will record that end.
   */
  isRepeat: boolean;
  settle(response: AgentRuntimeResponse): void;
  fail(error: unknown): void;
}

/** The calls that this process executes now, by command. */
export class InFlightCalls {
  readonly #calls = new Map<string, InFlightCall>();

  get(commandId: string): InFlightCall | undefined {
    return this.#calls.get(commandId);
  }

  /** The one that sends the command here and records its end; not one that waits for it. */
  executing(commandId: string): InFlightCall | undefined {
    const call = this.#calls.get(commandId);
    return call?.isRepeat ? undefined : call;
  }

  /** The caller has made sure, without awaiting anything in between, that there is none under this command. */
  begin(commandId: string, requestDigest: string): InFlightCall {
    let settle: InFlightCall['settle'] = () => undefined;
    let fail: InFlightCall['fail'] = () => undefined;
    const ended = new Promise<AgentRuntimeResponse>((resolve, reject) => {
      settle = resolve;
      fail = reject;
    });
    // Nobody may be waiting for it; who executes the call gets the error anyway.
    ended.catch(() => undefined);
    const call: InFlightCall = { commandId, requestDigest, ended, isRepeat: false, settle, fail };
    this.#calls.set(commandId, call);
    return call;
  }

  end(call: InFlightCall): void {
    this.#calls.delete(call.commandId);
    // Does nothing where it was settled.
    call.fail(new Error(`the call ${call.commandId} was given up`));
  }
}
