/** Reads an iterator so that waiting for the next item can be given up without losing that item. */
export class PatientReader<T> {
  #pending: Promise<IteratorResult<T, unknown>> | null = null;

  constructor(private readonly items: AsyncIterator<T, unknown>) {}

  /** The next item, `done`, or `aborted` as soon as `signal` is; reading may then go on under another signal. */
  async next(signal: AbortSignal): Promise<{ item: T } | 'done' | 'aborted'> {
    if (signal.aborted) return 'aborted';
    this.#pending ??= this.items.next();
    const result = await orAborted(this.#pending, signal);
    if (result === 'aborted') return 'aborted';
    this.#pending = null;
    return result.done ? 'done' : { item: result.value };
  }

  /** Ends the iterator; what it still brings or throws is nobody's concern any more. */
  close(): void {
    this.#pending?.catch(() => undefined);
    void this.items.return?.().catch(() => undefined);
  }
}

/** The promise's value, or `aborted` as soon as `signal` is; the promise goes on. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  if (signal.aborted) return 'aborted';
  let onAbort = (): void => undefined;
  const aborted = new Promise<'aborted'>((resolve) => {
    onAbort = () => {
      resolve('aborted');
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
