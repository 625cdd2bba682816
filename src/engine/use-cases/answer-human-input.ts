import type { DataSource } from 'typeorm';
import { DomainError, ValidationError } from '../../common/errors/domain-error.js';
import type { JsonObject } from '../../common/json/json-value.js';
import type { RunLeases } from '../../runs/leases/run-leases.js';
import { RunNotActiveError, RunNotFoundError } from '../../runs/run-errors.js';
import type { RunRepository } from '../../runs/run.repository.js';
import type { VisitRepository } from '../../runs/visit.repository.js';
import { completeFields, WorkflowGraph, type GraphData, type InputField } from '../../workflows/index.js';
import type { WakeRun } from '../execution/wake-run.js';
import type { CompiledWorkflows } from '../execution/compiled-workflows.js';

/** Thrown when a run's graph has no such node. */
export class NodeNotFoundError extends DomainError {
  readonly code = 'NODE_NOT_FOUND';
  constructor(
    readonly runId: string,
    readonly nodeId: string,
  ) {
    super('node not found');
  }
}

/**
 * Gives a waiting `humanInput` node its values and wakes its run, in one commit: an answer that is stored is never
 * left lying by a crash. Of two answers at the same time one is taken. Throws
 * RunNotFoundError, NodeNotFoundError, RunNotActiveError (it does not wait), ValidationError (its fields named as the
 * caller's body has them: `fieldPrefix` and the name).
 */
export class AnswerHumanInput {
  constructor(
    private readonly dataSource: DataSource,
    private readonly runs: RunRepository,
    private readonly visits: VisitRepository,
    private readonly leases: RunLeases,
    private readonly workflows: CompiledWorkflows,
    private readonly wakeRun: WakeRun,
  ) {}

  async execute(
    runId: string,
    nodeId: string,
    values: JsonObject,
    fieldPrefix = '',
  ): Promise<{ visitUuid: string }> {
    const run = await this.runs.find(runId);
    if (!run) throw new RunNotFoundError(runId);
    const { workflow } = await this.workflows.find(run.workflowId, run.workflowVersion);
    if (!hasNode(workflow.graphData, nodeId)) throw new NodeNotFoundError(runId, nodeId);
    // Of several items that wait at the same node, the first is answered first.
    const visit = (await this.visits.ofRun(runId)).find(
      (one) =>
        one.nodeId === nodeId &&
        one.nodeType === 'humanInput' &&
        one.status === 'WAITING' &&
        one.waiting?.answer === undefined,
    );
    if (!visit?.waiting || run.status !== 'RUNNING') throw this.#notWaiting(runId, nodeId);
    const fields = (visit.waiting.fields ?? []) as unknown as InputField[];
    const { values: answer, errors } = completeFields(fields, values, fieldPrefix);
    if (errors.length > 0) throw ValidationError.ofFields(errors);
    const rested = await this.dataSource.transaction(async (manager) => {
      // The run's row first, as the journal does: two locks in another order could wait for each other.
      const wasResting = await this.leases.wake(runId, manager);
      const [, taken] = await manager.query<[unknown[], number]>(
        `UPDATE visits SET waiting = $1
          WHERE visit_uuid = $2 AND status = 'WAITING' AND (waiting -> 'answer') IS NULL`,
        [JSON.stringify({ ...visit.waiting, answer }), visit.visitUuid],
      );
      if (taken === 0) throw this.#notWaiting(runId, nodeId);
      return wasResting;
    });
    await this.wakeRun.afterWake(runId, rested);
    return { visitUuid: visit.visitUuid };
  }

  #notWaiting(runId: string, nodeId: string): RunNotActiveError {
    return new RunNotActiveError(runId, `node ${nodeId} is not waiting for input`);
  }
}

/** Nodes of an iteration's graph are named `{iteration}.{inner}`. */
function hasNode(graphData: GraphData, nodeId: string): boolean {
  const [first = '', ...inner] = nodeId.split('.');
  const node = WorkflowGraph.of(graphData).node(first);
  if (!node || inner.length === 0) return node !== undefined;
  return node.type === 'iteration' && hasNode(node.data.graph as unknown as GraphData, inner.join('.'));
}
