import type { EntitySubscriberInterface, QueryRunner, TransactionCommitEvent } from 'typeorm';
import type { AnchorFile } from './anchor-file.js';
import { APPENDED } from './audit-log.js';

/**
 * Writes the chain's head into the anchor file when a transaction that appended has been committed. The head is
 * read again after the commit, so that nothing of a rolled-back savepoint is ever anchored.
 */
export class AnchorAfterCommit implements EntitySubscriberInterface {
  constructor(
    private readonly anchors: AnchorFile,
    private readonly onError: (error: unknown) => void,
  ) {}

  async afterTransactionCommit({ queryRunner }: TransactionCommitEvent): Promise<void> {
    const data = queryRunner.data as Record<string, unknown>;
    if (queryRunner.isTransactionActive || !data[APPENDED]) return;
    queryRunner.data = { ...data, [APPENDED]: false };
    try {
      await this.#anchor(queryRunner);
    } catch (error) {
      // What was recorded is committed and must not look failed; the next append anchors it.
      this.onError(error);
    }
  }

  async #anchor(queryRunner: QueryRunner): Promise<void> {
    const [head] = (await queryRunner.query(`SELECT chain_id, seq, hash FROM audit_head`)) as {
      chain_id: string;
      seq: string;
      hash: string;
    }[];
    if (head) await this.anchors.add(head.chain_id, { seq: Number(head.seq), hash: head.hash });
  }
}
