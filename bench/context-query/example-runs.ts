import type { VisitRef } from '../../src/events/run-event.js';
import { RecordedRun } from '../../test/factories/recorded-run.js';

/** A recorded run whose last visit still goes on and asks. */
export interface AskingRun {
  readonly run: RecordedRun;
  readonly caller: VisitRef;
  /** A node in the middle, asked about. */
  readonly askedNodeId: string;
}

/** What is left of a run when it has been recorded: who asks, and about what. */
export interface Asker {
  readonly runId: string;
  readonly caller: VisitRef;
  readonly askedNodeId: string;
}

export function askerOf({ run, caller, askedNodeId }: AskingRun): Asker {
  return { runId: run.runId, caller, askedNodeId };
}

/** Fifty visits as workflows have them: an input, four researchers' chains of twelve, and a writer. Four paths. */
export function plainRun(): AskingRun {
  const run = new RecordedRun();
  const input = act(run, 'input', []);
  const ends: VisitRef[] = [];
  for (let chain = 0; chain < 4; chain += 1) {
    let last = input;
    for (let step = 0; step < 12; step += 1) last = act(run, `research-${chain}-${step}`, [last]);
    ends.push(last);
  }
  return { run, caller: run.begin('writer', ends), askedNodeId: 'research-2-6' };
}

/** Fifty visits with 2^20 paths: twenty layers of two, each joined with each of the next, between short chains. */
export function worstRun(): AskingRun {
  const run = new RecordedRun();
  let layer = [act(run, 'input', [])];
  for (let step = 0; step < 20; step += 1) {
    layer = ['left', 'right'].map((side) => act(run, `${side}-${step}`, layer));
  }
  for (let step = 0; step < 8; step += 1) layer = [act(run, `tail-${step}`, layer)];
  return { run, caller: run.begin('writer', layer), askedNodeId: 'left-10' };
}

/** An agent's visit: it thinks, uses four tools, keeps a list and answers about a kilobyte. */
function act(run: RecordedRun, nodeId: string, predecessors: readonly VisitRef[]): VisitRef {
  const visit = run.begin(nodeId, predecessors);
  for (let step = 0; step < 4; step += 1) {
    run.think(visit, `Step ${step}: what ${nodeId} has read so far does not settle the question. 先查资料。`);
    run.log(
      visit,
      {
        type: 'tool_call',
        tool: 'read_file',
        callId: `${step}`,
        args: { path: `chapter-${step}.md`, lines: 40 },
      },
      {
        type: 'tool_result',
        tool: 'read_file',
        callId: `${step}`,
        result: '资料内容 '.repeat(40),
        error: null,
      },
    );
  }
  run.log(visit, {
    type: 'todo',
    todos: [
      { text: 'Read', status: 'completed' },
      { text: 'Write', status: 'pending' },
    ],
  });
  run.end(visit, { text: `What ${nodeId} found. `.repeat(30), sources: ['a.md', 'b.md'], count: 7 });
  return visit;
}
