import type { Emit } from './event-stream.js';
import type { BridgeRunRequest } from './protocol.js';
import type { Toolbox } from './tools/toolbox.js';

/** One request being worked on. */
export interface AgentVisit {
  readonly request: BridgeRunRequest;
  readonly toolbox: Toolbox;
  /** Everything but `result` and `error`, which end the answer. */
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

export interface AgentAnswer {
  readonly text: string;
  /** A structured answer; null leaves it to the text, which may be a JSON object. */
  readonly data: Record<string, unknown> | null;
  readonly finishReason: 'stop' | 'length';
}

/** Works on a request until it has an answer. Throws RunFailure; stops soon after the signal aborts. */
export type Agent = (visit: AgentVisit) => Promise<AgentAnswer>;
