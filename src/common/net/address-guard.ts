import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.js';

export interface HostAddress {
  address: string;
  family: 4 | 6;
}

/** Resolves a host name to all its addresses; replaced in tests. */
export type ResolveHost = (hostname: string) => Promise<readonly HostAddress[]>;

export interface AddressRules {
  /** Hosts (`host` or `host:port`) that may be reached although they are internal. */
  allowedHosts: readonly string[];
  resolve?: ResolveHost;
}

/** Thrown when a URL leads, or may lead, to an address that callers must not reach. */
export class AddressRefusedError extends Error {
  constructor(
    readonly host: string,
    why: string,
  ) {
    super(`${host}: ${why}`);
    this.name = 'AddressRefusedError';
  }
}

/** Thrown when a host name has no address now. */
export class HostNotFoundError extends Error {
  constructor(
    readonly host: string,
    options?: ErrorOptions,
  ) {
    super(`${host}: the host name cannot be resolved`, options);
    this.name = 'HostNotFoundError';
  }
}

/**
 * The addresses a request to `url` may be sent to. Every address of the host must be public, or the host be
 * allowed. Connect to one of these and nothing else: a second look-up could answer differently (DNS rebinding).
 * Throws an AddressRefusedError or a HostNotFoundError.
 */
export async function resolveGuarded(url: URL, rules: AddressRules): Promise<readonly HostAddress[]> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new AddressRefusedError(url.protocol, 'only http and https are allowed');
  }
  if (url.username !== '' || url.password !== '') {
    throw new AddressRefusedError(url.host, 'a URL with a user name or password is not allowed');
  }
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(hostname);
  const addresses =
    family === 0
      ? await resolveHost(hostname, rules.resolve ?? systemResolve)
      : [{ address: hostname, family: family === 4 ? (4 as const) : (6 as const) }];
  if (isAllowedHost(url, rules.allowedHosts)) return addresses;
  for (const { address } of addresses) {
    if (!isPublicAddress(address)) {
      throw new AddressRefusedError(url.host, 'the host is, or resolves to, an internal address');
    }
  }
  return addresses;
}

/** Whether `allowedHosts` names the URL's host, with or without its port. */
export function isAllowedHost(url: URL, allowedHosts: readonly string[]): boolean {
  const hostname = url.hostname.toLowerCase().replace(/\.$/, '');
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  const names = new Set([hostname, bare, `${hostname}:${port}`]);
  return allowedHosts.some((allowed) => names.has(allowed.toLowerCase()));
}

async function resolveHost(hostname: string, resolve: ResolveHost): Promise<readonly HostAddress[]> {
  let addresses: readonly HostAddress[];
  try {
    addresses = await resolve(hostname);
  } catch (error) {
    throw new HostNotFoundError(hostname, { cause: error });
  }
  if (addresses.length === 0) throw new HostNotFoundError(hostname);
  return addresses;
}

async function systemResolve(hostname: string): Promise<HostAddress[]> {
  const addresses = await systemLookup(hostname, { all: true });
  return addresses.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}
