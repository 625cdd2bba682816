import { PreparedConnection } from '../database/prepared-connection.js';

/** The connections whose statements every run needs; two, so that nothing that is created waits for a commit of journals. */
export class RunConnections {
  /** Creates and starts runs. */
  readonly admission: PreparedConnection;
  /** Writes their journals. */
  readonly journal: PreparedConnection;

  constructor(url: string) {
    this.admission = new PreparedConnection(url, 'admission');
    this.journal = new PreparedConnection(url, 'journal');
  }

  async close(): Promise<void> {
    await Promise.all([this.admission.close(), this.journal.close()]);
  }
}
