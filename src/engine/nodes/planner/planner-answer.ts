import { z } from 'zod';
import { readAnswer } from '../../../common/json/read-answer.js';
import { JsonTextError } from '../../../common/json/read-json.js';
import type { RuntimeOutput } from '../../../runtime-adapters/protocol/agent-runtime-response.js';
import type { PlannerQuestion } from './planner-question.js';

/** A plan that can be followed: nodes to visit next, or the end. */
export type Plan = { next: { nodeId: string; reason: string }[]; finish: boolean };

const planSchema = z.object({
  next: z.array(z.object({ nodeId: z.string(), reason: z.string().default('') })).default([]),
  finish: z.boolean().default(false),
});

const MAX_SHOWN = 200;

/** The plan an answer holds, or why it cannot be followed. A node that is named twice is meant once. */
export function readPlan(
  output: RuntimeOutput,
  question: Pick<PlannerQuestion, 'candidates' | 'maxParallel'>,
): { plan: Plan } | { problem: string } {
  const parsed = planSchema.safeParse(output.data ?? jsonIn(output.text));
  if (!parsed.success) {
    const why = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'answer'}: ${message}`);
    return { problem: `the planner's answer is malformed: ${why.slice(0, 5).join('; ')}` };
  }
  const { next, finish } = parsed.data;
  if (finish && next.length > 0) return { problem: 'the planner named nodes and said finish' };
  if (!finish && next.length === 0) return { problem: 'the planner named no node and did not say finish' };
  const once = new Map(next.map((one) => [one.nodeId, one]));
  const known = new Set(question.candidates.map(({ nodeId }) => nodeId));
  const unknown = [...once.keys()].filter((nodeId) => !known.has(nodeId));
  if (unknown.length > 0) {
    const names = unknown.slice(0, 5).map((nodeId) => JSON.stringify(nodeId.slice(0, MAX_SHOWN)));
    return { problem: `the planner named ${names.join(', ')}, which is no node that may be visited` };
  }
  if (once.size > question.maxParallel) {
    return { problem: `the planner named ${once.size} nodes, more than the ${question.maxParallel} allowed` };
  }
  return { plan: { next: [...once.values()], finish } };
}

function jsonIn(text: string): unknown {
  try {
    return readAnswer(text) ?? null;
  } catch (error) {
    if (error instanceof JsonTextError) return null;
    throw error;
  }
}
