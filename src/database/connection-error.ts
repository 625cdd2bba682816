import pg from 'pg';

/** SQLSTATE classes that speak of the connection or the server, not of the statement. */
const CONNECTION_CLASSES = new Set(['08', '57']);

/** Whether an error says that the database could not be reached, so that nobody knows what became of a write. */
export function isConnectionError(error: unknown): boolean {
  const cause = error instanceof Error && 'driverError' in error ? error.driverError : error;
  if (!(cause instanceof pg.DatabaseError)) return true;
  return CONNECTION_CLASSES.has(cause.code?.slice(0, 2) ?? '');
}
