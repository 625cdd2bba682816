import type { AgentAnswer, AgentVisit } from '../agent.js';
import { RunFailure } from '../run-failure.js';
import type { Directive } from './directive.js';
import { playScript } from './play-script.js';
import type { VisitReport } from './visit-report.js';

interface Plan {
  next: { nodeId: string; reason: string }[];
  finish: boolean;
}

/**
 * Answers a planner's question from the `@plan` lines of the goal, one line an answer; `plan_index` says which.
 * Other directives belong to the answer whose `@plan` line they stand before and are played first, so that a plan
 * can be slow or fail; those after the last `@plan` line are played for every later answer. With no line left the
 * answer is to finish.
 */
export async function planAnswer(
  visit: AgentVisit,
  report: VisitReport,
  directives: readonly Directive[],
): Promise<AgentAnswer> {
  const turn = turnOf(directives, visit.request.plan_index ?? 0);
  const played = await playScript(visit, report, turn.before);
  if (!turn.plan && played.text !== '') return played;
  const plan = turn.plan ? readPlan(turn.plan) : { next: [], finish: true };
  const text = JSON.stringify(plan);
  await report.say(text);
  return { text, data: { ...plan }, finishReason: 'stop' };
}

function turnOf(
  directives: readonly Directive[],
  index: number,
): { before: Directive[]; plan: Directive | null } {
  let before: Directive[] = [];
  let passed = 0;
  for (const directive of directives) {
    if (directive.name !== 'plan') {
      before.push(directive);
    } else if (passed === index) {
      return { before, plan: directive };
    } else {
      passed += 1;
      before = [];
    }
  }
  return { before, plan: null };
}

function readPlan({ rest }: Directive): Plan {
  const words = rest.trim();
  if (words === 'END') return { next: [], finish: true };
  const ids = words.split(',').map((id) => id.trim());
  if (ids.some((id) => id === '')) {
    throw new RunFailure('provider_bad_request', `@plan expects ID,ID… or END, not "${words.slice(0, 200)}"`);
  }
  return { next: ids.map((nodeId) => ({ nodeId, reason: '@plan' })), finish: false };
}
