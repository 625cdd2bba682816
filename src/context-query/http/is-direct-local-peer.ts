import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv4 } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const FORWARDING_HEADER = /^(forwarded|x-forwarded-.*|x-real-ip)$/;

/** The peer sits on this host and speaks for nobody else: no proxy has added its headers (decision 25). */
export function isDirectLocalPeer(request: IncomingMessage): boolean {
  return (
    isLoopbackAddress(request.socket.remoteAddress) &&
    !Object.keys(request.headers).some((name) => FORWARDING_HEADER.test(name))
  );
}

export function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && loopback.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
