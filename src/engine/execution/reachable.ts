import { isConnectionError } from '../../database/connection-error.js';
import { JournalUnavailableError } from '../../runs/journal/journal-errors.js';

/** Tells a database that could not be reached from what else may go wrong while it is read. */
export async function reachable<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw isConnectionError(error) ? new JournalUnavailableError(error) : error;
  }
}
