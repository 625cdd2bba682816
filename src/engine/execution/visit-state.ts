import type { JsonObject } from '../../common/json/json-value.js';
import type { VisitRef } from '../../events/run-event.js';
import type { NodeStatus } from '../../runs/run-status.js';
import type { WalkNode } from '../walks/walk.js';
import type { Frame } from './frame.js';
import type { StreamedText } from './streamed-text.js';

/** A visit that has begun and not ended, as the process that executes its run holds it. */
export interface VisitState {
  readonly ref: VisitRef;
  readonly node: WalkNode;
  readonly frame: Frame;
  readonly sortOrder: number;
  readonly predecessors: readonly string[];
  status: Extract<NodeStatus, 'RUNNING' | 'WAITING'>;
  attempt: number;
  /** The attempt follows one that a crash cut off. */
  resumed: boolean;
  tokens: number;
  toolCalls: number;
  /** What it waits for, or waited for when it is woken. */
  waiting: JsonObject | null;
  wakeAt: Date | null;
  /** Of an iteration: the items it walks just now. */
  readonly items: Set<Frame>;
  controller: AbortController;
  text: StreamedText;
}
