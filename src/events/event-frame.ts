import type { StreamEventType } from './run-event.js';

/** An event as it goes over the wire: framed once per process, the bytes shared by all its readers. */
export interface EventFrame {
  readonly seq: number;
  readonly bytes: Buffer;
  /** The run's last event: a reader that has written it is done. */
  readonly last: boolean;
}

export function isLastEvent(type: StreamEventType): boolean {
  return type === 'workflow_complete' || type === 'workflow_error';
}

/** `payload` is JSON text as `JSON.stringify` writes it, so it holds no line break. */
export function frameEvent(event: { seq: number; type: StreamEventType; payload: string }): EventFrame {
  return {
    seq: event.seq,
    bytes: Buffer.from(`event: ${event.type}\nid: ${event.seq}\ndata: ${event.payload}\n\n`),
    last: isLastEvent(event.type),
  };
}
