import { ValidationError } from '../../common/errors/domain-error.js';

/**
 * The number after which a client wants to go on, or null when it names none: the header `Last-Event-ID`, else the
 * query's `lastEventId` (decision 12). Throws a ValidationError for anything but decimal digits.
 */
export function readLastEventId(header: string | string[] | undefined, query: unknown): number | null {
  const given = header ?? query;
  if (given === undefined) return null;
  if (typeof given !== 'string' || !/^\d+$/.test(given)) {
    throw ValidationError.ofFields([
      { field: 'Last-Event-ID', message: 'must be an integer in decimal digits' },
    ]);
  }
  return Number(given);
}
