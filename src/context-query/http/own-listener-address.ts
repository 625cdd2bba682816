import { isIP } from 'node:net';
import { isLoopbackAddress } from './is-direct-local-peer.js';

export interface ListenAddress {
  host: string;
  port: number;
}

/**
 * Where the endpoints get a listener of their own: where `listen` says, or on a free port when the main listener's
 * address is one that loopback does not reach; null: they live on the main listener.
 */
export function ownListenerAddress(listen: string | null, mainHost: string): ListenAddress | null {
  if (listen !== null) {
    const at = listen.lastIndexOf(':');
    return { host: bare(listen.slice(0, at)), port: Number(listen.slice(at + 1)) };
  }
  return isReachedByLoopback(bare(mainHost)) ? null : { host: '127.0.0.1', port: 0 };
}

function isReachedByLoopback(host: string): boolean {
  if (host === 'localhost' || host === '0.0.0.0' || host === '::') return true;
  return isIP(host) !== 0 && isLoopbackAddress(host);
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1');
}
