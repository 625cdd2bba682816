import type { ActingStub } from './acting-stub.js';
import type { ReadEvent } from './run-reader.js';

const TERMINAL = new Set(['workflow_complete', 'workflow_error']);
const ENDED = new Set(['SUCCESS', 'FAILED', 'SKIPPED']);

interface SeenVisit {
  readonly nodeId: string;
  readonly iterSeq: number;
  /** RUNNING events; each allows the visit to act once. */
  attempts: number;
  /** When its end was read. */
  ended: ReadEvent | null;
}

/** What is wrong with a finished run's events: their numbers, their ends, visits that went on after they had ended. */
export function judgeEvents(events: readonly ReadEvent[]): string[] {
  const problems: string[] = [];
  events.forEach(({ id }, at) => {
    if (id !== at + 1) problems.push(`event ${id} stands where ${at + 1} is due`);
  });
  const count = (of: (event: ReadEvent) => boolean): number => events.filter(of).length;
  if (events[0]?.event !== 'run_started') problems.push('run_started is not first');
  if (count(({ event }) => event === 'run_started') !== 1) problems.push('run_started is not there once');
  const ends = count(({ event }) => TERMINAL.has(event));
  if (ends !== 1) problems.push(`there are ${ends} terminal events`);
  if (!TERMINAL.has(events.at(-1)?.event ?? '')) problems.push('the terminal event is not last');

  const visits = new Map<string, SeenVisit>();
  const places = new Map<string, string>();
  for (const { id, event, payload } of events) {
    const { visitUuid, nodeId = '', iterSeq = 0, status = '', attempt } = payload;
    if (visitUuid === undefined) continue;
    const place = `${nodeId}#${iterSeq}`;
    if ((places.get(place) ?? visitUuid) !== visitUuid) problems.push(`${place} was visited twice (${id})`);
    places.set(place, visitUuid);
    const visit = visits.get(visitUuid) ?? { nodeId, iterSeq, attempts: 0, ended: null };
    visits.set(visitUuid, visit);
    if (visit.ended) problems.push(`${place} goes on at event ${id} after it ended at ${visit.ended.id}`);
    if (event === 'node_status' && status === 'RUNNING') {
      visit.attempts += 1;
      if (attempt !== visit.attempts) {
        problems.push(`${place} begins attempt ${attempt} where ${visit.attempts} is due (${id})`);
      }
    }
    if (event === 'node_status' && ENDED.has(status)) {
      visit.ended = events[id - 1] ?? null;
      if (status !== 'SKIPPED' && visit.attempts === 0) problems.push(`${place} ends without a beginning`);
    }
  }
  for (const { nodeId, ended } of visits.values()) {
    if (!ended) problems.push(`a visit of ${nodeId} has no end`);
  }
  return problems;
}

/** Acts of visits whose end had been read in an earlier life, and more acts than attempts. */
export function judgeActs(events: readonly ReadEvent[], tag: string, stub: ActingStub): string[] {
  const visits = new Map<string, SeenVisit>();
  for (const read of events) {
    const { visitUuid, nodeId = '', iterSeq = 0, status = '' } = read.payload;
    if (read.event !== 'node_status' || visitUuid === undefined) continue;
    const visit = visits.get(visitUuid) ?? { nodeId, iterSeq, attempts: 0, ended: null };
    visits.set(visitUuid, visit);
    if (status === 'RUNNING') visit.attempts += 1;
    if (ENDED.has(status)) visit.ended = read;
  }
  const problems: string[] = [];
  for (const { nodeId, iterSeq, attempts, ended } of visits.values()) {
    const place = `${tag}/${nodeId}/${iterSeq}`;
    const counts = new Map<string, number>();
    for (const { key, life } of stub.acts) {
      if (key !== place && !key.startsWith(`${place}#`)) continue;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (ended && life > ended.life) {
        problems.push(`${key} acted in life ${life}, after its end was read in life ${ended.life}`);
      }
    }
    for (const [key, count] of counts) {
      if (count > attempts) problems.push(`${key} acted ${count} times in ${attempts} attempts`);
    }
  }
  return problems;
}
