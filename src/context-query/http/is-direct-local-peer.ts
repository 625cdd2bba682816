import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv4 } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const FORWARDING_HEADER = /^(forwarded|x-forwarded-.*|x-real-ip)$/;

/** Node hands on this many names and values at most; what a proxy appends comes last and may be lost. */
const SEEN_ENTIRELY = 2_000;

/** The peer sits on this host and speaks for nobody else: no proxy has added its headers (decision 25). */
export function isDirectLocalPeer({ socket, headers, rawHeaders }: IncomingMessage): boolean {
  return (
    isLoopbackAddress(socket.remoteAddress) &&
    rawHeaders.length < SEEN_ENTIRELY &&
    !Object.keys(headers).some((name) => FORWARDING_HEADER.test(name))
  );
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && loopback.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}
