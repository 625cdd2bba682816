import type { JsonObject, JsonValue } from '../../src/common/json/json-value.js';
import type { VisitRef } from '../../src/events/run-event.js';
import type { NodeType } from '../../src/workflows/graph/graph-data.js';
import { RecordedRun } from './recorded-run.js';

/** Numbers between 0 and 1 that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const TEXTS = [
  '',
  'plain',
  '中文内容',
  '😀 emoji',
  'NUL \u0000 inside',
  'lone \ud800 surrogate',
  '"quoted" \\ and\nlines',
];
const NODE_TYPES: NodeType[] = ['agent', 'agent', 'template', 'condition', 'code'];

export interface RandomRunOptions {
  readonly visits?: number;
  /** Length of the longest text. */
  readonly longText?: number;
}

/** A run with joins, loops, failures, retries, skipped nodes and visits still running, with all kinds of text. */
export function randomRun(random: () => number, options: RandomRunOptions = {}): RecordedRun {
  const run = new RecordedRun();
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const count = options.visits ?? 1 + Math.floor(random() * 30);
  const text = (): string =>
    random() < 0.02 ? 'x字'.repeat((options.longText ?? 60_000) * random()) : pick(TEXTS);
  const value = (depth: number): JsonValue => {
    const kind = Math.floor(random() * (depth > 3 ? 4 : 6));
    if (kind === 0) return text();
    if (kind === 1) return random() * 1e6;
    if (kind === 2) return pick([true, false, null]);
    if (kind === 3) return Math.floor(random() * 100);
    if (kind === 4) return Array.from({ length: Math.floor(random() * 4) }, () => value(depth + 1));
    return object(depth + 1);
  };
  const object = (depth: number): JsonObject =>
    Object.fromEntries(
      Array.from({ length: Math.floor(random() * 5) }, () => [
        pick(['b', 'a', '10', '2', '键', 'a.b', '']),
        value(depth),
      ]),
    );
  const say = (visit: VisitRef): void => {
    for (let left = Math.floor(random() * 12); left > 0; left -= 1) {
      const kind = Math.floor(random() * 6);
      if (kind <= 1) run.think(visit, text());
      else if (kind === 2) run.log(visit, { type: 'text', text: text() });
      else if (kind === 3)
        run.log(visit, { type: 'todo', todos: [value(0), { text: text(), status: 'pending' }] });
      else if (kind === 4) run.log(visit, { type: 'info', message: text() });
      else {
        const call = { tool: pick(['search', '工具']), callId: `${left}` };
        run.log(visit, { type: 'tool_call', ...call, args: value(0) });
        run.log(visit, {
          type: 'tool_result',
          ...call,
          result: value(0),
          error: random() < 0.2 ? text() : null,
        });
      }
    }
  };
  const ended: VisitRef[] = [];
  const running: VisitRef[] = [];
  for (let at = 0; at < count; at += 1) {
    if (random() < 0.05) run.skip(`S${at}`);
    const predecessors = ended.filter((_, index) => random() < 3 / (ended.length - index + 2)).slice(-4);
    const visit = run.begin(`N${Math.floor(random() * 8)}`, predecessors, pick(NODE_TYPES));
    if (visit.nodeType === 'agent') say(visit);
    if (random() < 0.1) {
      run.retry(visit);
      say(visit);
    }
    const end = random();
    if (end < 0.7) run.end(visit, object(0));
    else if (end < 0.85) run.fail(visit, text());
    else running.push(visit);
    if (end < 0.85) ended.push(visit);
  }
  for (const visit of running) if (random() < 0.5) run.end(visit, object(0));
  return run;
}
