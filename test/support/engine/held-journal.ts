import type pg from 'pg';
import type { TestEngine } from './test-engine.js';

type Query = TestEngine['connections']['journal']['query'];

/** Holds back the statements of an engine's journal; `go` lets them through. */
export class HeldJournal {
  readonly #query: Query;
  #goOn!: () => void;
  #reached!: () => void;
  readonly #gate = new Promise<void>((resolve) => (this.#goOn = resolve));
  /** Resolves when the first statement has come. */
  readonly reached = new Promise<void>((resolve) => (this.#reached = resolve));

  constructor(private readonly engine: TestEngine) {
    const { journal } = engine.connections;
    this.#query = journal.query.bind(journal);
    journal.query = async <Row extends object>(config: pg.QueryConfig): Promise<Row[]> => {
      this.#reached();
      await this.#gate;
      return this.#query<Row>(config);
    };
  }

  go(): void {
    this.engine.connections.journal.query = this.#query;
    this.#goOn();
  }
}
