/**
 * How long a test waits for what it expects before it says what did not come: shorter than jest's own limit, and far
 * longer than it takes on a machine that is slow and shared.
 */
export const PATIENCE_MILLIS = 50_000;
