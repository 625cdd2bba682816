import { Injectable } from '@nestjs/common';
import { WorkflowRepository } from '../workflow.repository.js';

/** A workflow in a list: all but its graph. */
export interface WorkflowSummary {
  readonly workflowId: number;
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** One page of a list and where the next begins; null: that was all. */
export interface Page<T, C> {
  readonly items: readonly T[];
  readonly next: C | null;
}

/** The living workflows, newest first. Pages stay right while workflows come and go. */
@Injectable()
export class ListWorkflows {
  constructor(private readonly repository: WorkflowRepository) {}

  /** `before` is the id that the last page gave as `next`. */
  async execute({
    before,
    limit,
  }: {
    before?: string;
    limit: number;
  }): Promise<Page<WorkflowSummary, string>> {
    const rows = await this.repository.listRows({ before, limit: limit + 1 });
    const items = rows.slice(0, limit).map((row) => ({
      workflowId: Number(row.id),
      name: row.name,
      displayName: row.displayName,
      description: row.description,
      version: row.currentVersion,
      createdAt: row.createdAt,
      updatedAt: row.updatedAt,
    }));
    return { items, next: rows.length > limit ? (rows[limit - 1]?.id ?? null) : null };
  }
}
