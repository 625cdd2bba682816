/** Where the bridge listens and what it wants to hear; held for one call. */
export interface BridgeEndpoint {
  /** Without a trailing slash. */
  readonly url: string;
  /** Bearer token. */
  readonly secret: string;
}

/** Gives a bridge to talk to: a child of this process, or one that somebody else runs. */
export interface BridgeSource {
  /** Which bridge it is, for messages: an external one with its address and the key that says it, no secret. */
  readonly title: string;
  /** Begins to provide one; does not wait for it. */
  start(): void;
  /** Waits until one listens. Throws BridgeUnavailableError, or the signal's reason. */
  endpoint(signal: AbortSignal): Promise<BridgeEndpoint>;
  /** Why a model other than the demo model cannot run, naming the key to fix; null when it can. */
  problemWithModels(): Promise<string | null>;
  isReady(): boolean;
  isStopping(): boolean;
  /** Ends what `start` began; resolves once nothing of it is left. */
  stop(): Promise<void>;
}

/** Thrown when no bridge can be talked to now. Nothing was sent. `retryable` means that one may come back. */
export class BridgeUnavailableError extends Error {
  constructor(
    message: string,
    readonly retryable: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'BridgeUnavailableError';
  }
}
