import type { DataSource } from 'typeorm';
import { GroupCommit } from '../database/group-commit.js';
import { workflowIdOf } from './workflow-id.js';
import type { WorkflowEntity } from './workflow.entity.js';

const MAX_BATCH = 500;

/**
 * Finds living workflows by name or id. Every request of an integrator needs one, so those that arrive while the
 * database is being asked share the next query. It begins after they were asked, so no answer is older than its
 * question: whoever has changed a workflow sees the change.
 */
export class WorkflowLookups {
  readonly #lookups: GroupCommit<string, WorkflowEntity | null>;

  constructor(dataSource: DataSource) {
    this.#lookups = new GroupCommit(
      async (asked) => {
        const ids = asked.map(workflowIdOf).filter((id) => id !== null);
        const rows = await dataSource.query<WorkflowEntity[]>(STATEMENT, [asked, ids]);
        const named = new Map(rows.map((row) => [row.name, row]));
        const numbered = new Map(rows.map((row) => [row.id, row]));
        return asked.map((one) => ({
          ok: true,
          // A name may be made of digits: then the name wins (decision 9).
          value: named.get(one) ?? numbered.get(workflowIdOf(one) ?? '') ?? null,
        }));
      },
      { maxBatch: MAX_BATCH, isFatal: () => true },
    );
  }

  find(nameOrId: string): Promise<WorkflowEntity | null> {
    return this.#lookups.submit(nameOrId);
  }
}

const STATEMENT = `
SELECT id, name, display_name AS "displayName", description, current_version AS "currentVersion",
       created_at AS "createdAt", updated_at AS "updatedAt", deleted_at AS "deletedAt"
  FROM workflows WHERE deleted_at IS NULL AND (name = ANY($1) OR id = ANY($2::bigint[]))`;
