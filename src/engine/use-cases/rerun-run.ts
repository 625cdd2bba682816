import { cp, lstat } from 'node:fs/promises';
import type { EntityManager, ObjectLiteral } from 'typeorm';
import { ValidationError } from '../../common/errors/domain-error.js';
import { newRunId } from '../../common/ids/run-id.js';
import { newVisitUuid } from '../../common/ids/visit-uuid.js';
import { isTerminal } from '../../runs/run-status.js';
import { RunNotActiveError, RunNotFoundError } from '../../runs/run-errors.js';
import type { NewRun, RunRepository } from '../../runs/run.repository.js';
import type { RunEntity } from '../../runs/run.entity.js';
import { VisitEntity } from '../../runs/visit.entity.js';
import type { VisitRepository } from '../../runs/visit.repository.js';
import type { Workspaces } from '../../runs/workspaces/workspaces.js';
import {
  WorkflowGraph,
  WorkflowNotFoundError,
  type WorkflowDefinition,
  type WorkflowRepository,
} from '../../workflows/index.js';
import { DagWalk } from '../walks/dag-walk.js';
import { NodeNotFoundError } from './answer-human-input.js';
import type { CreateRun } from './create-run.js';

export interface RerunCommand {
  runId: string;
  /** What comes before it is taken over. Absent: all that succeeded, where the run failed; else nothing. */
  fromNodeId?: string;
  /** `latest`: the workflow's current version; else the run's own. */
  version?: 'latest';
  apiKeyName: string | null;
}

/**
 * Creates a linked run that takes over what the earlier one found out before a node, and a copy of its workspace.
 * Throws RunNotFoundError, NodeNotFoundError, RunNotActiveError (it has not ended).
 */
export class RerunRun {
  constructor(
    private readonly runs: RunRepository,
    private readonly visits: VisitRepository,
    private readonly workflows: WorkflowRepository,
    private readonly workspaces: Workspaces,
    private readonly createRun: CreateRun,
  ) {}

  async execute(command: RerunCommand): Promise<{ run: NewRun; workflow: WorkflowDefinition }> {
    const original = await this.runs.find(command.runId);
    if (!original) throw new RunNotFoundError(command.runId);
    if (!isTerminal(original.status)) {
      throw new RunNotActiveError(command.runId, 'only a run that has ended can be run again');
    }
    if (original.workspaceExpiredAt) throw new ValidationError('the workspace of the run has expired');
    const workflow = await this.#workflow(original, command.version);
    const graph = WorkflowGraph.of(workflow.graphData);
    if (command.fromNodeId !== undefined && !graph.node(command.fromNodeId)) {
      throw new NodeNotFoundError(command.runId, command.fromNodeId);
    }
    const stored = await this.visits.ofRun(command.runId);
    const reused = reusedVisits(workflow, graph, stored, original, command.fromNodeId);
    const runId = newRunId();
    await this.#copyWorkspace(original.runId, runId);
    try {
      const run = await this.createRun.execute({
        runId,
        workflow,
        variables: original.variables,
        failStrategy: original.failStrategy,
        ttlHours: original.ttlHours,
        apiKeyName: command.apiKeyName,
        callbackUrl: original.callbackUrl,
        rerunOf: { runId: original.runId, fromNode: command.fromNodeId ?? null },
        alsoInTransaction: (manager) => takeOver(manager, runId, reused),
      });
      return { run, workflow };
    } catch (error) {
      await this.workspaces.remove(runId);
      throw error;
    }
  }

  async #workflow(original: RunEntity, version?: 'latest'): Promise<WorkflowDefinition> {
    const found =
      version === 'latest'
        ? await this.workflows.findCurrent(original.workflowId)
        : await this.workflows.findVersion(original.workflowId, original.workflowVersion);
    if (!found) throw new WorkflowNotFoundError(original.workflowId);
    return found;
  }

  async #copyWorkspace(from: string, to: string): Promise<void> {
    const target = await this.workspaces.create(to);
    const source = await this.workspaces.create(from);
    // Links are neither followed nor copied: what they point to may lie outside.
    await cp(source, target, { recursive: true, filter: async (path) => !(await isLink(path)) });
  }
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path)).isSymbolicLink();
}

/** The visits whose outcome the new run takes over. */
export function reusedVisits(
  workflow: Pick<WorkflowDefinition, 'mode'>,
  graph: WorkflowGraph,
  stored: readonly VisitEntity[],
  original: Pick<RunEntity, 'status'>,
  fromNodeId: string | undefined,
): VisitEntity[] {
  const sound = stored.filter(
    ({ nodeId, nodeType, status }) =>
      status === 'SUCCESS' && (nodeType === 'planner' || graph.node(nodeId)?.type === nodeType),
  );
  if (fromNodeId === undefined) {
    if (original.status === 'SUCCESS') return [];
    return workflow.mode === 'DAG'
      ? reachedWith(sound, graph)
      : beforeFirst(sound, stored, ({ status }) => status !== 'SUCCESS');
  }
  if (workflow.mode === 'AGENTIC') return beforeFirst(sound, stored, ({ nodeId }) => nodeId === fromNodeId);
  const before = sound.filter(({ nodeId }) => nodeId !== fromNodeId && !graph.isAncestor(fromNodeId, nodeId));
  return reachedWith(before, graph);
}

/**
 * Those of the visits that a walk gets to when only they have ended. What comes after a node that acts again, such as
 * one whose failure was skipped, acts again too; taken over, it would stand in the run twice.
 */
function reachedWith(sound: readonly VisitEntity[], graph: WorkflowGraph): VisitEntity[] {
  const walk = new DagWalk(graph);
  const byNode = new Map(sound.map((visit) => [visit.nodeId, visit]));
  const reached = new Set<VisitEntity>();
  for (let step = walk.advance(); step.begin.length + step.skip.length > 0; step = walk.advance()) {
    for (const { nodeId } of step.begin) {
      const visit = byNode.get(nodeId);
      if (!visit) continue;
      reached.add(visit);
      const { visitUuid, chosenHandle: handle, envelope } = visit;
      const data = envelope?.data ?? null;
      walk.ended({ visitUuid, nodeId, status: 'succeeded', handle, data, error: null });
    }
  }
  return sound.filter((visit) => reached.has(visit));
}

/** In AGENTIC mode the order decides: whatever began before the first visit that counts as `last`. */
function beforeFirst(
  sound: readonly VisitEntity[],
  stored: readonly VisitEntity[],
  last: (visit: VisitEntity) => boolean,
): VisitEntity[] {
  const end = stored.find(last)?.sortOrder ?? Infinity;
  return sound.filter(({ sortOrder }) => sortOrder < end);
}

/** Stores the visits under new ids, as if they had ended in the new run. */
async function takeOver(
  manager: EntityManager,
  runId: string,
  reused: readonly VisitEntity[],
): Promise<void> {
  const newIds = new Map(reused.map(({ visitUuid }) => [visitUuid, newVisitUuid()]));
  const rows = reused.map((visit, index) => ({
    ...visit,
    runId,
    sortOrder: index + 1,
    visitUuid: newIds.get(visit.visitUuid) ?? newVisitUuid(),
    predecessors: visit.predecessors.flatMap((uuid) => newIds.get(uuid) ?? []),
    tokens: 0,
    toolCalls: 0,
  }));
  // Not `save`, which would copy what the visits hold, in another order of keys.
  if (rows.length > 0) await manager.insert<ObjectLiteral>(VisitEntity, rows);
}
