/** For a connection to come about, and for one of the pool to become free. */
export const CONNECT_MILLIS = 30_000;
