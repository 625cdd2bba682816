import { BridgeUnavailableError, type BridgeEndpoint, type BridgeSource } from './bridge-endpoint.js';

/** A bridge that somebody else runs (`hermes.bridge.mode: external`), a Python hermes_bridge for instance. */
export class ExternalBridge implements BridgeSource {
  readonly title: string;
  readonly #url: string | null;
  readonly #secret: () => Promise<string>;
  #stopping = false;

  /** `secret` throws BridgeUnavailableError naming the key to fix when there is none. */
  constructor(options: { url: string | null; secret: () => Promise<string> }) {
    this.#url = options.url?.replace(/\/+$/, '') ?? null;
    // The origin alone: a URL may hold a password, and its path or query a token.
    const at = this.#url === null ? '' : ` at ${new URL(this.#url).origin}`;
    this.title = `the external bridge${at} (hermes.bridge.url)`;
    this.#secret = options.secret;
  }

  start(): void {
    // It runs already, or will; there is nothing to begin.
  }

  async endpoint(signal: AbortSignal): Promise<BridgeEndpoint> {
    signal.throwIfAborted();
    if (!this.#url) throw new BridgeUnavailableError('hermes.bridge.url is not set', false);
    return { url: this.#url, secret: await this.#secret() };
  }

  /** It has its own models, of which this server knows nothing. */
  problemWithModels(): Promise<null> {
    return Promise.resolve(null);
  }

  isReady(): boolean {
    return this.#url !== null;
  }

  isStopping(): boolean {
    return this.#stopping;
  }

  stop(): Promise<void> {
    this.#stopping = true;
    return Promise.resolve();
  }
}
