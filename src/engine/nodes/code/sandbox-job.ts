/** What the server hands to a sandbox thread: plain data, no functions, no handles. */
export interface SandboxJob {
  /** Body of a JavaScript function of `inputs`. */
  readonly code: string;
  /** JSON text. */
  readonly inputs: string;
  /** Feeds `Math.random`. */
  readonly seed: string;
  /** Where `Date` stands still, in milliseconds since 1970. */
  readonly now: number;
  readonly timeoutMillis: number;
  readonly memoryBytes: number;
  readonly outputBytes: number;
}

/** How the code ended. `console` holds what it printed, line by line. */
export type SandboxAnswer = { readonly console: readonly string[] } & (
  | {
      readonly kind: 'returned';
      /** JSON text of what it returned. */
      readonly json: string;
    }
  | {
      readonly kind: 'failed';
      readonly reason: SandboxFailure;
      readonly message: string;
      /** Line of the code, from 1, where that is known. */
      readonly line: number | null;
    }
);

export type SandboxFailure = 'thrown' | 'time' | 'memory' | 'output';
