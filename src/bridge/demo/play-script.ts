import { setTimeout as delay } from 'node:timers/promises';
import { JsonTextError } from '../../common/json/read-json.js';
import { assertNever } from '../assert-never.js';
import type { AgentAnswer, AgentVisit } from '../agent.js';
import { RunFailure } from '../run-failure.js';
import { todoList } from '../tools/update-todo.tool.js';
import type { Directive } from './directive.js';
import { jsonWithLast, withLast } from './last-result.js';
import type { VisitReport } from './visit-report.js';

const MAX_SLEEP_MILLIS = 24 * 3600 * 1000;

/**
 * Does what the lines say, in order. The answer is what was said and the JSON answers, joined by newlines; its
 * data is the last `@json` that is an object. Throws RunFailure for `@fail`, `@flake` and lines that are wrong.
 */
export async function playScript(
  visit: AgentVisit,
  report: VisitReport,
  script: readonly Directive[],
): Promise<AgentAnswer> {
  const lines: string[] = [];
  let data: Record<string, unknown> | null = null;
  const answer = async (line: string): Promise<void> => {
    lines.push(line);
    await report.say(line);
  };

  for (const directive of script) {
    visit.signal.throwIfAborted();
    const { name, rest } = directive;
    switch (name) {
      case 'think':
        await report.think(rest);
        break;
      case 'todo':
        await report.todo(todosOf(directive));
        break;
      case 'call': {
        const { tool, args } = callOf(directive, report.last);
        await report.call(tool, args);
        break;
      }
      case 'say':
        await answer(withLast(rest, report.last));
        break;
      case 'json': {
        const value = jsonOf(directive, report.last);
        if (isObject(value)) data = value;
        await answer(JSON.stringify(value));
        break;
      }
      case 'sleep':
        await delay(millisOf(directive), undefined, { signal: visit.signal });
        break;
      case 'fail':
        throw new RunFailure('provider_run_failed', rest || 'the demo model was told to fail');
      case 'flake':
        flake(directive, visit.request.attempt ?? 1);
        break;
      case 'plan':
        // Only a planner's goal has a meaning for it; see plan-answer.ts.
        break;
      default:
        assertNever(name);
    }
  }
  return { text: lines.join('\n'), data, finishReason: 'stop' };
}

function flake(directive: Directive, attempt: number): void {
  const match = /^(\d{1,6})(?:[ \t]+(.*))?$/.exec(directive.rest);
  if (!match) throw wrongLine(directive, 'N MESSAGE');
  const [, count, message] = match;
  if (attempt > Number(count)) return;
  throw new RunFailure('provider_5xx', message || `the demo model was told to fail ${count} times`, {
    retryable: true,
  });
}

function todosOf(directive: Directive): unknown[] {
  const value = jsonOf(directive, null);
  const parsed = todoList.safeParse(isObject(value) ? value['todos'] : value);
  if (!parsed.success) throw wrongLine(directive, 'a JSON list of strings or objects');
  return parsed.data;
}

function callOf(directive: Directive, last: unknown): { tool: string; args: unknown } {
  const match = /^(\S+)(?:[ \t]+(.*))?$/.exec(directive.rest);
  if (!match?.[1]) throw wrongLine(directive, 'TOOL JSON');
  const json = match[2]?.trim();
  return { tool: match[1], args: json ? jsonOf({ ...directive, rest: json }, last) : {} };
}

function millisOf(directive: Directive): number {
  const millis = Number(directive.rest);
  if (directive.rest.trim() === '' || !(millis >= 0 && millis <= MAX_SLEEP_MILLIS)) {
    throw wrongLine(directive, 'MILLISECONDS');
  }
  return millis;
}

function jsonOf(directive: Directive, last: unknown): unknown {
  try {
    return jsonWithLast(directive.rest, last);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    if (error.kind === 'syntax') throw wrongLine(directive, 'JSON');
    throw new RunFailure('provider_bad_request', error.saidOf(`the JSON after @${directive.name}`));
  }
}

function wrongLine({ name, rest }: Directive, expected: string): RunFailure {
  return new RunFailure(
    'provider_bad_request',
    `the demo model cannot read the line "@${name} ${rest.slice(0, 200)}": after @${name} it expects ${expected}`,
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
