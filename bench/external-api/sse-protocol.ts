/** What the main process of `bench:sse` and its servers say to each other. */
export interface Ready {
  kind: 'ready';
  port: number;
}

/** Begin to emit; every event carries the time it was made at. */
export interface Emit {
  kind: 'emit';
  eventsPerSecond: number;
  seconds: number;
}

/** The path at which the next round's readers subscribe. */
export interface Opened {
  kind: 'opened';
  path: string;
}

/** Memory after a round, in bytes, and streams that are still open. */
export interface Measured {
  kind: 'measured';
  rss: number;
  readers: number;
}

export type FromServer = Ready | Opened | Measured;
export type ToServer = { kind: 'open' } | Emit | { kind: 'measure' } | { kind: 'stop' };
