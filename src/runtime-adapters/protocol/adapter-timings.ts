/** How patient adapters are; tests are less so. */
export interface AdapterTimings {
  /** Before a second post, where one is allowed. */
  readonly backoffMs: number;
  /** Between two looks at a run of which we lost sight; grows to 5 s. */
  readonly pollMs: number;
  /** How long a lost run is looked for after a restart. */
  readonly recoverMs: number;
  /** How long a provider may take to confirm a stop. */
  readonly stopMs: number;
}

export const DEFAULT_TIMINGS: AdapterTimings = {
  backoffMs: 500,
  pollMs: 1_000,
  recoverMs: 15 * 60_000,
  stopMs: 5_000,
};
