import { randomUUID } from 'node:crypto';
import { timeInHex } from './time-in-hex.js';

/** A new visit's UUID: version 7 (RFC 9562), the time and 74 random bits. It begins with the time as run ids do. */
export function newVisitUuid(): string {
  const time = timeInHex();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
