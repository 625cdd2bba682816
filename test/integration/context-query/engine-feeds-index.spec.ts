import { RunEventStore } from '../../../src/events/run-event-store.js';
import { VisitRecords } from '../../../src/context-query/records/visit-records.js';
import { IndexedRun } from '../../../src/context-query/visit-index/indexed-run.js';
import type { GraphData } from '../../../src/workflows/index.js';
import { fails, says, thinks, untilAborted, type Script } from '../../support/engine/scripted-runtime.js';
import { TestEngine, type EndedRun } from '../../support/engine/test-engine.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, chain, edge, input, node, output, when } from '../engine/graphs.js';

let database: TestDatabase;
let test_: TestEngine;

beforeAll(async () => {
  database = await createTestDatabase();
  test_ = await TestEngine.start(database);
});
afterAll(async () => {
  await test_.stop();
  await database.close();
});

/** Everything the queries read of each visit, out of memory and out of the database. */
async function compare({ run, visits }: EndedRun): Promise<void> {
  const memory = new IndexedRun(run.runId, { maxVisits: 200, maxTextBytes: 1e6, maxRunBytes: 1e8 });
  for (const event of test_.events.filter(({ runId }) => runId === run.runId)) memory.apply(event);
  const records = new VisitRecords(database.dataSource, new RunEventStore(database.dataSource));
  for (const { visitUuid, status } of visits) {
    if (status === 'SKIPPED') continue;
    const lineage = await records.lineage(run.runId, visitUuid);
    const held = memory.lineage(visitUuid);
    const plain = (of: typeof lineage): unknown =>
      of && {
        visits: of.visits.map(({ visitUuid: uuid, nodeId, iterSeq, sortOrder, predecessors, finished }) => ({
          uuid,
          nodeId,
          iterSeq,
          sortOrder,
          predecessors,
          finished,
        })),
        firstVisits: [...of.firstVisits].sort(),
      };
    expect(plain(held)).toEqual(plain(lineage));
    const visit = lineage?.visits.find((found) => found.visitUuid === visitUuid);
    if (!visit) throw new Error('the database does not know the visit');
    expect(memory.visit(visitUuid)?.envelope).toBe(await records.envelope(run.runId, visit));
    expect(memory.visit(visitUuid)?.logs).toEqual((await records.logs(run.runId, visit)).entries);
  }
}

describe('what the engine publishes is what it stores', () => {
  test('with branches not taken, failures skipped and attempts repeated', async () => {
    let attempts = 0;
    test_.runtime
      .on('flaky', () => {
        attempts += 1;
        return [
          thinks(`attempt ${attempts}`),
          attempts === 1 ? fails('not yet', { retryable: true }) : says('好'),
        ];
      })
      .on('bad', () => [fails('no \u0000 luck')]);
    const graphData: GraphData = {
      nodes: [
        input(),
        agent('flaky', { retry: { maxAttempts: 2, backoffSeconds: 0.01 } }),
        agent('bad', { failStrategy: 'skip' }),
        when('choose', [{ id: 'yes', variable: 'flaky.text', operator: 'equals', value: '好' }]),
        agent('taken'),
        agent('untaken'),
        output({ text: '{{ taken.text }}' }),
      ],
      edges: [
        edge('in', 'flaky'),
        edge('in', 'bad'),
        edge('flaky', 'choose'),
        edge('bad', 'choose'),
        edge('choose', 'taken', 'yes'),
        edge('choose', 'untaken', 'else'),
        edge('taken', 'out'),
        edge('untaken', 'out'),
      ],
    };
    const ended = await test_.runToEnd(await test_.workflow(graphData));
    expect(ended.run.status).toBe('SUCCESS');
    expect(ended.visit('untaken')?.status).toBe('SKIPPED');
    await compare(ended);
  });

  test('with the visits inside an iteration', async () => {
    const inner = chain(agent('each', { prompt: '{{ item }}' }), output({ text: '{{ each.text }}' }, 'end'));
    const graphData = chain(
      input({ name: 'items', type: 'array' }),
      node('loop', 'iteration', { items: '{{ in.items }}', graph: inner, concurrency: 2 }),
      output({ items: '{{ loop.items }}' }),
    );
    const ended = await test_.runToEnd(await test_.workflow(graphData), { items: ['a', 'b', 'c'] });
    expect(ended.run.error).toBeNull();
    expect(ended.visits.filter(({ nodeId }) => nodeId === 'loop.each')).toHaveLength(3);
    await compare(ended);
  });

  test('with planned visits that fly back', async () => {
    const graphData: GraphData = {
      nodes: [input(), agent('B'), agent('C'), agent('G'), output({ text: '{{ C.text }}' })],
      edges: [edge('in', 'B'), edge('B', 'C'), edge('B', 'G'), edge('G', 'C'), edge('C', 'out')],
    };
    const plans = [['B'], ['C', 'G'], ['C'], ['out']];
    test_.runtime.on('planner', () => {
      const next = (plans.shift() ?? []).map((nodeId) => ({ nodeId, reason: 'planned' }));
      const answer = { next, finish: next.length === 0 };
      return [says(JSON.stringify(answer), answer)];
    });
    const ended = await test_.runToEnd(
      await test_.workflow(graphData, {
        mode: 'AGENTIC',
        settings: { goal: 'there and back', planner: { type: 'llm', model: 'demo', scope: 'graph' } },
      }),
    );
    expect(ended.run.status).toBe('SUCCESS');
    expect(ended.visits.filter(({ nodeId }) => nodeId === 'C')).toHaveLength(2);
    await compare(ended);
  });
});

describe('a visit’s token', () => {
  /** Runs one agent; gives what its token was while it acted. */
  async function tokenOf(
    script: Script,
    data: object,
    meanwhile: (runId: string) => Promise<unknown>,
  ): Promise<string> {
    let token = '';
    let begin = (): void => undefined;
    const acting = new Promise<void>((resolve) => {
      begin = resolve;
    });
    test_.runtime.on('one', (request, signal) => {
      token = request.workbench?.contextQuery?.token ?? '';
      expect(test_.tokens.authenticate(token)).toMatchObject({ nodeId: 'one' });
      begin();
      return script(request, signal);
    });
    const graph = chain(input(), agent('one', { ...data }), output({ text: 'x' }));
    const runId = await test_.start(await test_.workflow(graph));
    await acting;
    await meanwhile(runId);
    await test_.end(runId);
    return token;
  }

  const nothing = async (): Promise<void> => undefined;
  test.each<[string, Script, object, (runId: string) => Promise<unknown>]>([
    ['success', () => [says('done')], {}, nothing],
    ['failure', () => [fails('broken')], {}, nothing],
    ['a broken runtime', () => Promise.reject(new Error('the bridge is gone')), {}, nothing],
    ['a time-out', (_, signal) => untilAborted(signal), { timeoutSeconds: 0.2 }, nothing],
    ['a cancel', (_, signal) => untilAborted(signal), {}, (runId) => test_.engine.cancelRun.execute(runId)],
  ])('is dead after %s', async (_, script, data, meanwhile) => {
    const token = await tokenOf(script, data, meanwhile);
    expect(token).toMatch(/^[0-9a-f]{48}$/);
    await test_.until(() => test_.tokens.authenticate(token) === null, 'the token to die');
    expect(test_.tokens.size).toBe(0);
  });

  test('is another one for each attempt', async () => {
    const tokens: string[] = [];
    const retried: Script = (request) => {
      tokens.push(request.workbench?.contextQuery?.token ?? '');
      return [tokens.length === 1 ? fails('again', { retryable: true }) : says('done')];
    };
    await tokenOf(retried, { retry: { maxAttempts: 2, backoffSeconds: 0.01 } }, nothing);
    expect(new Set(tokens).size).toBe(2);
    await test_.until(() => test_.tokens.size === 0, 'the tokens to die');
  });
});
