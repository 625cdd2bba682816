import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import { renderTemplates } from '../../workflows/templates/index.js';
import type { ChildRuns } from '../use-cases/child-runs.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';
import { NodeFailure } from './node-failure.js';

/** A parent looks again that often although its child's end wakes it: the call may be lost with a process. */
const LOOK_AGAIN_MILLIS = 30_000;

/** `subWorkflow`: a run of its own, with its own workspace; the child's outputs (decision 33). */
export class SubWorkflowExecutor implements NodeExecutor {
  readonly type = 'subWorkflow';

  constructor(private readonly children: ChildRuns) {}

  async execute(visit: NodeVisit): Promise<NodeResult> {
    const { run, visitUuid, waited } = visit;
    const child =
      typeof waited?.childRunId === 'string'
        ? await this.children.find(waited.childRunId)
        : ((await this.children.ofVisit(run.runId, visitUuid, visit.attempt)) ?? (await this.#start(visit)));
    if (child.status === 'SUCCESS') {
      const to = { workspaceDir: run.workspaceDir, folder: `${visit.nodeId}-${visit.iterSeq}` };
      return { kind: 'completed', data: await this.children.outputsFor(child, to) };
    }
    if (child.status === 'FAILED') {
      throw new NodeFailure('CHILD_FAILED', `run ${child.runId} failed: ${child.error ?? 'no reason given'}`);
    }
    const since = waited?.since ?? new Date().toISOString();
    return {
      kind: 'waiting',
      waitingFor: { kind: 'child', childRunId: child.runId, since },
      wakeAt: new Date(Date.now() + LOOK_AGAIN_MILLIS),
    };
  }

  async #start(visit: NodeVisit) {
    const { node, scope, run, visitUuid } = visit;
    const {
      workflowName,
      version,
      variables = {},
    } = node.data as {
      workflowName: string;
      version?: number;
      variables?: JsonValue;
    };
    const rendered = (await renderTemplates(variables, scope)) as JsonObject;
    return this.children.start({
      parentRunId: run.runId,
      parentEpoch: run.leaseEpoch,
      parentVisitUuid: visitUuid,
      workflowName,
      version: version ?? null,
      variables: rendered,
    });
  }
}
