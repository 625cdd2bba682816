import type { StreamEventType } from './run-event.js';

/** One or several events as they go over the wire: framed once per process, the bytes shared by all readers. */
export interface EventFrame {
  /** Number of its first event. */
  readonly first: number;
  /** Number of its last event. */
  readonly seq: number;
  readonly bytes: Buffer;
  /** It ends with the run's last event: a reader that has written it is done. */
  readonly last: boolean;
}

export function isLastEvent(type: StreamEventType): boolean {
  return type === 'workflow_complete' || type === 'workflow_error';
}

/** `payload` is JSON text as `JSON.stringify` writes it, so it holds no line break. */
export function frameEvent(event: { seq: number; type: StreamEventType; payload: string }): EventFrame {
  return {
    first: event.seq,
    seq: event.seq,
    bytes: Buffer.from(`event: ${event.type}\nid: ${event.seq}\ndata: ${event.payload}\n\n`),
    last: isLastEvent(event.type),
  };
}

/**
 * Frames in order as few ones: those that follow each other are joined while they stay below `maxBytes`, so that
 * many events cost one write for each reader.
 */
export function joinFrames(frames: readonly EventFrame[], maxBytes: number): EventFrame[] {
  const joined: EventFrame[] = [];
  let group: EventFrame[] = [];
  let bytes = 0;
  const close = (): void => {
    const [first] = group;
    const newest = group.at(-1);
    if (first && newest) {
      const all = first === newest ? first.bytes : Buffer.concat(group.map((frame) => frame.bytes));
      joined.push({ first: first.first, seq: newest.seq, bytes: all, last: newest.last });
    }
    group = [];
    bytes = 0;
  };
  for (const frame of frames) {
    const follows = frame.first === (group.at(-1)?.seq ?? frame.first - 1) + 1;
    if (!follows || bytes + frame.bytes.length > maxBytes) close();
    group.push(frame);
    bytes += frame.bytes.length;
  }
  close();
  return joined;
}
