import type { DataSource } from 'typeorm';

/**
 * Removes answers that nobody needs any more: a visit's once the visit has ended, any other after its time. An
 * answer stays while its visit runs, however long the server was down.
 */
export class ForgetCallOutputs {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns how many answers went. */
  async execute(): Promise<number> {
    const [, removed] = await this.dataSource.query<[unknown[], number]>(
      `DELETE FROM runtime_call_outputs o USING runtime_calls c
        WHERE c.command_id = o.command_id
          AND (c.visit_uuid IS NOT NULL OR o.kept_until < now())
          AND NOT EXISTS (SELECT 1 FROM visits v WHERE v.visit_uuid = c.visit_uuid AND v.status = 'RUNNING')`,
    );
    return removed;
  }
}
