import type { DataSource, EntityManager } from 'typeorm';
import type { JsonValue } from '../common/json/json-value.js';
import type { AnchorFile, ChainHead } from './anchor-file.js';
import { entryHash, genesisHash, type AuditActor } from './audit-entry.js';

/** What verification found. `firstBroken` is the number of the first entry that is changed, missing or added. */
export interface ChainVerdict {
  valid: boolean;
  /** Entries that were read. */
  checked: number;
  firstBroken: number | null;
  /** In words; null when valid. */
  problem: string | null;
  /** The newest entry that is anchored outside the database; 0 where this server has no anchor of the chain. */
  anchoredUpTo: number;
}

interface AuditRow {
  seq: string;
  at: Date;
  actor: AuditActor;
  action: string;
  subject_type: string;
  subject_id: string;
  correlation_id: string | null;
  reason: string | null;
  before: JsonValue;
  after: JsonValue;
  prev_hash: string;
  hash: string;
}

const BATCH = 500;

/**
 * Proves the chain: every entry's hash and link, the head row, and every head that was ever anchored outside the
 * database. Reads one snapshot in batches, so appends meanwhile neither disturb it nor wait for it.
 */
export class VerifyAuditChain {
  constructor(
    private readonly dataSource: DataSource,
    private readonly anchors: AnchorFile,
  ) {}

  async execute(): Promise<ChainVerdict> {
    const [born] = await this.dataSource.query<{ chain_id: string }[]>(`SELECT chain_id FROM audit_head`);
    if (!born) return broken(0, 1, 'audit_head is empty');
    const chainId = born.chain_id;
    // Measured before the snapshot begins: a head anchored later may lie beyond the snapshot.
    const anchored = await this.anchors.size(chainId);
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      await manager.query(`SET TRANSACTION READ ONLY`);
      const [head] = await manager.query<{ seq: string; hash: string }[]>(`SELECT seq, hash FROM audit_head`);
      if (!head) return broken(0, 1, 'audit_head is empty');
      const verdict = await this.#walk(manager, chainId, { seq: Number(head.seq), hash: head.hash });
      const { first, highest } = await this.#compareAnchors(manager, chainId, anchored);
      const found = { ...verdict, anchoredUpTo: highest };
      if (first === null || (verdict.firstBroken ?? Infinity) <= first) return found;
      return {
        ...found,
        valid: false,
        firstBroken: first,
        problem: `entry ${first} is not the one that was anchored`,
      };
    });
  }

  async #walk(manager: EntityManager, chainId: string, head: ChainHead): Promise<ChainVerdict> {
    let previous: ChainHead = { seq: 0, hash: genesisHash(chainId) };
    let checked = 0;
    const before = await this.#beforeTheFirst(manager);
    if (before !== null) return broken(1, before, `entry ${before} lies before the first`);
    for (;;) {
      const rows = await manager.query<AuditRow[]>(
        `SELECT * FROM audit_logs WHERE seq > $1 ORDER BY seq LIMIT ${BATCH}`,
        [previous.seq],
      );
      for (const row of rows) {
        checked += 1;
        const problem = problemOf(row, previous);
        if (problem) return broken(checked, Math.min(Number(row.seq), previous.seq + 1), problem);
        previous = { seq: Number(row.seq), hash: row.hash };
      }
      if (rows.length < BATCH) break;
    }
    if (previous.seq < head.seq) return broken(checked, previous.seq + 1, 'the end of the chain is cut off');
    if (previous.seq > head.seq) return broken(checked, head.seq + 1, 'an entry lies beyond the head');
    if (previous.hash !== head.hash) return broken(checked, head.seq, 'the last entry is not the head');
    return { valid: true, checked, firstBroken: null, problem: null, anchoredUpTo: 0 };
  }

  /** Numbers begin at 1: what somebody puts before would be listed, and followed by nothing. */
  async #beforeTheFirst(manager: EntityManager): Promise<number | null> {
    const [row] = await manager.query<{ seq: string | null }[]>(
      `SELECT min(seq) AS seq FROM audit_logs WHERE seq < 1`,
    );
    return row?.seq == null ? null : Number(row.seq);
  }

  /** The lowest number whose entry is not the anchored one, and the highest that is anchored. */
  async #compareAnchors(
    manager: EntityManager,
    chainId: string,
    bytes: number,
  ): Promise<{ first: number | null; highest: number }> {
    let first: number | null = null;
    let highest = 0;
    let batch: ChainHead[] = [];
    const compare = async (): Promise<void> => {
      const rows = await manager.query<{ seq: string; hash: string }[]>(
        `SELECT seq, hash FROM audit_logs WHERE seq = ANY($1::bigint[])`,
        [batch.map(({ seq }) => seq)],
      );
      const hashes = new Map(rows.map(({ seq, hash }) => [Number(seq), hash]));
      for (const { seq, hash } of batch) {
        if (hashes.get(seq) !== hash) first = Math.min(first ?? seq, seq);
        highest = Math.max(highest, seq);
      }
      batch = [];
    };
    for await (const head of this.anchors.read(chainId, bytes)) {
      batch.push(head);
      if (batch.length === BATCH) await compare();
    }
    await compare();
    return { first, highest };
  }
}

function problemOf(row: AuditRow, previous: ChainHead): string | null {
  const seq = Number(row.seq);
  if (seq !== previous.seq + 1) return `entry ${previous.seq + 1} is missing`;
  if (row.prev_hash !== previous.hash) return `entry ${seq} does not follow entry ${previous.seq}`;
  return hashOf(row) === row.hash ? null : `entry ${seq} was changed`;
}

/** Null for what no entry of ours holds: a time that is none, values nested deeper than can be read. */
function hashOf(row: AuditRow): string | null {
  try {
    return entryHash({
      seq: Number(row.seq),
      at: new Date(row.at).toISOString(),
      actor: row.actor,
      action: row.action,
      subject: { type: row.subject_type, id: row.subject_id },
      correlationId: row.correlation_id,
      reason: row.reason,
      before: row.before,
      after: row.after,
      prevHash: row.prev_hash,
    });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function broken(checked: number, firstBroken: number, problem: string): ChainVerdict {
  return { valid: false, checked, firstBroken, problem, anchoredUpTo: 0 };
}
