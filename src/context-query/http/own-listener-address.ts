import { isIPv6 } from 'node:net';

/** Hosts of a base URL that bridges accept (§9.2), as URLs spell them, and what listens on them too. */
const REACHED: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '[::]']);

export interface ListenAddress {
  host: string;
  port: number;
}

/**
 * Where the endpoints get a listener of their own: where `listen` says, or on a free port when the main listener's
 * address is one that bridges are not sent to, another one of 127.0.0.0/8 too; null: they live on the main listener.
 */
export function ownListenerAddress(listen: string | null, mainHost: string): ListenAddress | null {
  if (listen !== null) {
    const at = listen.lastIndexOf(':');
    return { host: bare(listen.slice(0, at)), port: Number(listen.slice(at + 1)) };
  }
  return isReachedByLoopback(bare(mainHost)) ? null : { host: '127.0.0.1', port: 0 };
}

function isReachedByLoopback(host: string): boolean {
  const url = `http://${isIPv6(host) ? `[${host}]` : host}`;
  return URL.canParse(url) && REACHED.has(new URL(url).hostname);
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
