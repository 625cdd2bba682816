import { isIPv6 } from 'node:net';
import { Injectable } from '@nestjs/common';

const WILDCARDS = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
]);

/** Where this process listens; known once it does. */
@Injectable()
export class ListeningAddress {
  #address: { host: string; port: number } | null = null;
  #announce: () => void = () => undefined;
  /** Resolves once the listener is up. */
  readonly known = new Promise<void>((resolve) => {
    this.#announce = resolve;
  });

  /** Called once, after the listener is up; `port` is the real one. */
  set(host: string, port: number): void {
    this.#address = { host, port };
    this.#announce();
  }

  /** How this host itself reaches the listener, `http://host:port`; null before it is up. */
  baseUrl(): string | null {
    if (!this.#address) return null;
    const { host, port } = this.#address;
    const reachable = WILDCARDS.get(host) ?? (isIPv6(host) ? `[${host}]` : host);
    return `http://${reachable}:${port}`;
  }
}
