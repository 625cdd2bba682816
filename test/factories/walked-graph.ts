import type { JsonObject } from '../../src/common/json/json-value.js';
import type { EndedVisit, PlannedVisit, SkippedNode, Walk } from '../../src/engine/walks/walk.js';
import type { GraphEdge, GraphNode, NodeType } from '../../src/workflows/graph/graph-data.js';
import { WorkflowGraph } from '../../src/workflows/graph/workflow-graph.js';

/** `'a>b'` an edge; `'c:x>b'` one that belongs to outcome x of c. */
export function edges(...texts: string[]): GraphEdge[] {
  return texts.map((text, at) => {
    const [, source = '', sourceHandle = null, target = ''] = /^(\w+)(?::(\w+))?>(\w+)$/.exec(text) ?? [];
    return { id: `e${at}`, source, target, sourceHandle };
  });
}

/** Nodes are templates unless `types` says otherwise; those of the edges come by themselves, in order. */
export function graphOf(
  edgeTexts: readonly string[],
  types: Readonly<Record<string, NodeType>> = {},
  data: Readonly<Record<string, JsonObject>> = {},
): WorkflowGraph {
  const given = edges(...edgeTexts);
  const ids = new Set([...given.flatMap(({ source, target }) => [source, target]), ...Object.keys(types)]);
  const nodes = [...ids].map((id): GraphNode => ({
    id,
    type: types[id] ?? 'template',
    data: data[id] ?? {},
  }));
  return WorkflowGraph.of({ nodes, edges: given });
}

/** How a visit ends; `never` stays running. */
export type VisitEnd = 'ok' | 'failed' | 'never' | { handle?: string; data?: JsonObject };

/** Everything a walk planned and how that ended, in order. */
export interface WalkRecord {
  begun: (PlannedVisit & { uuid: string })[];
  skipped: SkippedNode[];
  /** Node ids of each advance that planned something. */
  steps: string[][];
}

/**
 * Walks as an engine would: begins what is planned and ends one running visit after the other, the one that `pick`
 * chooses. Visits are called `{node}{iterSeq}`.
 */
export function walkThrough(
  walk: Walk,
  endOf: (nodeId: string, iterSeq: number) => VisitEnd = () => 'ok',
  pick: (running: readonly string[]) => number = () => 0,
): WalkRecord {
  const record: WalkRecord = { begun: [], skipped: [], steps: [] };
  const running: { planned: PlannedVisit; uuid: string }[] = [];
  for (;;) {
    const step = walk.advance();
    if (step.begin.length > 0) record.steps.push(step.begin.map(({ nodeId }) => nodeId));
    record.skipped.push(...step.skip);
    for (const planned of step.begin) {
      const uuid = `${planned.nodeId}${planned.iterSeq}`;
      record.begun.push({ ...planned, uuid });
      if (endOf(planned.nodeId, planned.iterSeq) !== 'never') running.push({ planned, uuid });
    }
    if (running.length === 0) return record;
    const [next] = running.splice(pick(running.map(({ uuid }) => uuid)) % running.length, 1);
    if (next) walk.ended(ended(next.planned, next.uuid, endOf(next.planned.nodeId, next.planned.iterSeq)));
  }
}

function ended({ nodeId }: PlannedVisit, visitUuid: string, end: VisitEnd): EndedVisit {
  if (end === 'failed') {
    return { visitUuid, nodeId, status: 'failed', handle: null, data: null, error: `${nodeId} is broken` };
  }
  const { handle = null, data = {} } = typeof end === 'string' ? {} : end;
  return { visitUuid, nodeId, status: 'succeeded', handle, data, error: null };
}
