import type { Agent, AgentAnswer } from '../agent.js';
import { actWithoutScript } from './act-without-script.js';
import { directivesIn } from './directive.js';
import { planAnswer } from './plan-answer.js';
import { playScript } from './play-script.js';
import { VisitReport } from './visit-report.js';

/** The reserved node id under which the engine asks for a plan. */
const PLANNER_NODE = 'planner';

/**
 * The demo model: deterministic and scripted by the lines of its prompt that start with `@` (contract.md, "The
 * demo model"). It is an agent of its own rather than a model behind the AI SDK, because nothing of it is
 * predicted; it calls the same tools in the same toolbox.
 */
export const demoAgent: Agent = async (visit) => {
  const report = new VisitReport(visit);
  const directives = directivesIn(visit.request.prompt);
  const answer = await answerOf();
  await report.usage(answer);
  return answer;

  function answerOf(): Promise<AgentAnswer> {
    if (visit.request.node_id === PLANNER_NODE) return planAnswer(visit, report, directives);
    const script = directives.filter(({ name }) => name !== 'plan');
    return script.length > 0 ? playScript(visit, report, script) : actWithoutScript(visit, report);
  }
};
