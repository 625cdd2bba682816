import ipaddr from 'ipaddr.js';

/** IPv6 addresses that the Internet routes; what lies outside wraps IPv4 or belongs to nobody. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an IP address is one that anybody on the Internet may have: no loopback, private, link-local, shared,
 * multicast, documentation or reserved range, in IPv4, IPv6 or one wrapped in the other.
 */
export function isPublicAddress(address: string): boolean {
  // A zone index (fe80::1%eth0) names an interface of this host.
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST);
}
