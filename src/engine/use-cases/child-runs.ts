import type { DataSource } from 'typeorm';
import { DomainError } from '../../common/errors/domain-error.js';
import { newRunId } from '../../common/ids/run-id.js';
import type { JsonObject } from '../../common/json/json-value.js';
import type { RunLeases } from '../../runs/leases/run-leases.js';
import type { RunStatus } from '../../runs/run-status.js';
import type { RunRepository } from '../../runs/run.repository.js';
import type { Workspaces } from '../../runs/workspaces/workspaces.js';
import type { WorkflowDefinition, WorkflowRepository } from '../../workflows/index.js';
import { takeOverFiles } from '../execution/take-over-files.js';
import { NodeFailure } from '../nodes/node-failure.js';
import type { CreateRun } from './create-run.js';
import type { StartRun } from './start-run.js';

/** Runs within runs within runs: further down than this is a mistake. */
const MAX_DEPTH = 10;
const CHILD_TTL_HOURS = 720;
/** Whoever ends a parent gets so long to end its children too. */
const ORPHAN_SECONDS = 10;

export interface ChildRun {
  runId: string;
  status: RunStatus;
  outputs: JsonObject | null;
  error: string | null;
}

export interface StartChildCommand {
  parentRunId: string;
  /** Of the lease under which the parent is executed. */
  parentEpoch: number;
  parentVisitUuid: string;
  workflowName: string;
  /** Null: the current one. */
  version: number | null;
  variables: JsonObject;
}

/** Runs that are started by a `subWorkflow` node of another run. */
export class ChildRuns {
  constructor(
    private readonly dataSource: DataSource,
    private readonly runs: RunRepository,
    private readonly leases: RunLeases,
    private readonly workflows: WorkflowRepository,
    private readonly createRun: CreateRun,
    private readonly startRun: StartRun,
    private readonly workspaces: Workspaces,
  ) {}

  /** The child that a visit waits for. */
  async find(runId: string): Promise<ChildRun> {
    const run = await this.runs.find(runId);
    if (!run) throw new NodeFailure('CHILD_FAILED', `run ${runId} is gone`);
    return run;
  }

  /** The outputs of a child, with copies of the files they name in the workspace of its parent. */
  outputsFor(child: ChildRun, parent: { workspaceDir: string; folder: string }): Promise<JsonObject> {
    return takeOverFiles(child.outputs ?? {}, this.workspaces.directory(child.runId), parent);
  }

  /**
   * The child that a visit has started already, so that a restart between two commits starts no second one. From
   * the second attempt on a child that failed was an earlier attempt's, and does not count.
   */
  async ofVisit(parentRunId: string, visitUuid: string, attempt: number): Promise<ChildRun | null> {
    const rows = await this.dataSource.query<ChildRun[]>(
      `SELECT run_id AS "runId", status, outputs, error FROM runs
        WHERE parent_run_id = $1 AND parent_visit_uuid = $2 ORDER BY created_at DESC LIMIT 1`,
      [parentRunId, visitUuid],
    );
    const [child] = rows;
    if (!child || (child.status === 'FAILED' && attempt > 1)) return null;
    if (child.status === 'CREATED') await this.startRun.execute(child.runId);
    return child;
  }

  /** Throws LeaseLostError, and NodeFailure for an unknown workflow, wrong variables, a cycle, or too deep a nesting. */
  async start(command: StartChildCommand): Promise<ChildRun> {
    const workflow = await this.#workflow(command.workflowName, command.version);
    await this.#refuseCycle(command.parentRunId, workflow);
    try {
      const runId = newRunId();
      await this.createRun.execute({
        runId,
        workflow,
        variables: command.variables,
        ttlHours: CHILD_TTL_HOURS,
        apiKeyName: null,
        parent: { runId: command.parentRunId, visitUuid: command.parentVisitUuid },
        // A process that was held up must not start a second child beside the one of whoever took the parent over.
        alsoInTransaction: (manager) =>
          this.leases.requireHeld({ runId: command.parentRunId, epoch: command.parentEpoch }, manager),
      });
      await this.workspaces.create(runId);
      await this.startRun.execute(runId);
      return { runId, status: 'RUNNING', outputs: null, error: null };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      throw new NodeFailure(error.code, `workflow ${workflow.name}: ${error.message}`, { cause: error });
    }
  }

  /**
   * Runs whose parent ended some time ago without them: the process that should have ended them died in between.
   * Those never started are looked for only when told to.
   */
  async orphans({ started }: { started: boolean }): Promise<string[]> {
    const rows = await this.dataSource.query<{ run_id: string }[]>(
      `SELECT child.run_id FROM runs child JOIN runs parent ON parent.run_id = child.parent_run_id
        WHERE child.parent_run_id IS NOT NULL AND child.status = $1 AND parent.status IN ('SUCCESS', 'FAILED')
          AND parent.completed_at < now() - make_interval(secs => $2) LIMIT 1000`,
      [started ? 'RUNNING' : 'CREATED', ORPHAN_SECONDS],
    );
    return rows.map(({ run_id }) => run_id);
  }

  /** Children that have not ended. */
  async unfinished(parentRunId: string): Promise<string[]> {
    const rows = await this.dataSource.query<{ run_id: string }[]>(
      `SELECT run_id FROM runs WHERE parent_run_id = $1 AND status IN ('CREATED', 'RUNNING')`,
      [parentRunId],
    );
    return rows.map(({ run_id }) => run_id);
  }

  async #workflow(name: string, version: number | null): Promise<WorkflowDefinition> {
    const current = await this.workflows.findByNameOrId(name);
    const found =
      current && version !== null ? await this.workflows.findVersion(current.workflowId, version) : current;
    if (!found) {
      const wanted = version === null ? name : `${name} version ${version}`;
      throw new NodeFailure('WORKFLOW_NOT_FOUND', `there is no workflow ${wanted}`);
    }
    return found;
  }

  async #refuseCycle(parentRunId: string, workflow: WorkflowDefinition): Promise<void> {
    const rows = await this.dataSource.query<{ workflow_id: string }[]>(
      `WITH RECURSIVE line AS (
         SELECT run_id, workflow_id, parent_run_id, 1 AS depth FROM runs WHERE run_id = $1
         UNION ALL
         SELECT r.run_id, r.workflow_id, r.parent_run_id, line.depth + 1
           FROM runs r JOIN line ON r.run_id = line.parent_run_id WHERE line.depth <= $2
       ) SELECT workflow_id FROM line`,
      [parentRunId, MAX_DEPTH],
    );
    if (rows.some(({ workflow_id }) => workflow_id === String(workflow.workflowId))) {
      throw new NodeFailure('WORKFLOW_CYCLE', `workflow ${workflow.name} would run within itself`);
    }
    if (rows.length >= MAX_DEPTH) {
      throw new NodeFailure('WORKFLOW_DEPTH', `workflows may be nested ${MAX_DEPTH} deep`);
    }
  }
}
