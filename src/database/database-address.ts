/** Where the database is. Injectable by its class. */
export class DatabaseAddress {
  constructor(
    readonly url: string,
    /** The embedded PostgreSQL: no other process uses it, so nobody else can hold a run's lease. */
    readonly exclusive: boolean,
  ) {}
}
