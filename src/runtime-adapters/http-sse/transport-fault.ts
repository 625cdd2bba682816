/**
 * Thrown when the way to a provider failed, as opposed to an answer that says so. Messages are ours, never the
 * provider's.
 *
 * - `connect_failed`: no connection; not a byte of the request left.
 * - `deadline`: the total or the idle deadline passed.
 * - `aborted`: the caller gave up.
 * - `lost`: the connection broke after the request had begun to leave.
 * - `malformed`: what came is not what the protocol says (HTML, broken HTTP, compressed, not JSON).
 * - `too_large`: a frame or the answer passed its limit.
 */
export class TransportFault extends Error {
  constructor(
    readonly kind: 'connect_failed' | 'deadline' | 'aborted' | 'lost' | 'malformed' | 'too_large',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'TransportFault';
  }
}
