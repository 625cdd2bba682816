import { RunEventStore } from '../../../src/events/run-event-store.js';
import { queryMeta } from '../../../src/context-query/queries/query-meta.js';
import { queryOutput } from '../../../src/context-query/queries/query-output.js';
import { queryPath } from '../../../src/context-query/queries/query-path.js';
import type { VisitSource } from '../../../src/context-query/queries/visit-source.js';
import { readRunHistory } from '../../../src/context-query/records/read-run-history.js';
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

/** The run in memory, with nothing behind it. */
function memoryOf({ run }: EndedRun): VisitSource {
  const memory = new IndexedRun(run.runId, { maxVisits: 200, maxTextBytes: 1e6, maxRunBytes: 1e8 });
  for (const event of test_.events.filter(({ runId }) => runId === run.runId)) memory.apply(event);
  return {
    lineage: async (_, visitUuid) => memory.lineage(visitUuid),
    envelope: async (_, { visitUuid }) => memory.visit(visitUuid)?.envelope ?? null,
    logs: async (_, { visitUuid }) => ({ entries: memory.visit(visitUuid)?.logs ?? [], truncated: false }),
  };
}

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
        firstVisits: of.visits.map(({ nodeId }) => of.firstVisits.get(nodeId)),
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

  test('inside iterations, each in the other, an agent sees what came before them and its own item', async () => {
    const itemGraph = chain(
      agent('first'),
      node('deep', 'iteration', {
        items: '{{ item.list }}',
        graph: chain(agent('bottom'), output({ text: '{{ bottom.text }}' }, 'o')),
      }),
      output({ list: '{{ deep.items }}' }, 'end'),
    );
    const graphData: GraphData = {
      nodes: [
        input({ name: 'list', type: 'array' }),
        agent('before'),
        agent('beside'),
        node('loop', 'iteration', { items: '{{ in.list }}', graph: itemGraph }),
        output({ all: '{{ loop.items }}' }),
      ],
      edges: [
        edge('in', 'before'),
        edge('in', 'beside'),
        edge('before', 'loop'),
        edge('loop', 'out'),
        edge('beside', 'out'),
      ],
    };
    const named = new Map<string, string[]>();
    for (const nodeId of ['loop.first', 'loop.deep.bottom']) {
      test_.runtime.on(nodeId, ({ workbench }) => {
        named.set(nodeId, workbench?.predecessors.map((predecessor) => predecessor.nodeId) ?? []);
        return [says(`${nodeId} ${workbench?.visitUuid}`)];
      });
    }
    const list = [{ list: ['a'] }, { list: ['b'] }];
    const ended = await test_.runToEnd(await test_.workflow(graphData), { list });
    expect(ended.run.error).toBeNull();
    await compare(ended);
    expect(named.get('loop.first')).toEqual(['before']);
    expect(named.get('loop.deep.bottom')).toEqual(['loop.first']);

    const { runId } = ended.run;
    const records = new VisitRecords(database.dataSource, new RunEventStore(database.dataSource));
    const memory = memoryOf(ended);
    const bottoms = ended.visits.filter(({ nodeId }) => nodeId === 'loop.deep.bottom');
    expect(bottoms.map(({ iterSeq }) => iterSeq).sort()).toEqual([1, 1001]);
    for (const caller of bottoms) {
      const holder = { runId, visitUuid: caller.visitUuid, nodeId: caller.nodeId };
      const answers = [records, memory].map(async (source) => [
        await queryPath(source, holder, holder),
        await queryOutput(source, holder, { nodeId: 'before', iterSeq: null, field: 'text' }),
        await queryOutput(source, holder, { nodeId: 'loop.first', iterSeq: null, field: 'text' }),
        await queryMeta(source, holder, { kind: 'ALL', wanted: { nodeId: 'before', iterSeq: 1 } }),
        await queryOutput(source, holder, { nodeId: 'beside', iterSeq: null, field: null }).catch(String),
      ]);
      const [fromDatabase, fromMemory] = await Promise.all(answers);
      expect(JSON.stringify(fromMemory)).toBe(JSON.stringify(fromDatabase));
      // The other item's visit of the same node is none of its predecessors.
      const item = caller.iterSeq === 1 ? 1 : 2;
      const first = ended.visits.find(({ nodeId, iterSeq }) => nodeId === 'loop.first' && iterSeq === item);
      expect(fromDatabase).toMatchObject([
        { paths: [{ sequence: ['in', 'before', 'loop.first', 'loop.deep.bottom'] }] },
        { data: 'before done' },
        { visitUuid: first?.visitUuid, data: `loop.first ${first?.visitUuid}` },
        { nodeId: 'before' },
        expect.stringContaining('no finished visit of node "beside"'),
      ]);
    }
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

  test('is dead once another process has taken the run over', async () => {
    let token = '';
    let begin = (): void => undefined;
    const acting = new Promise<void>((resolve) => (begin = resolve));
    test_.runtime.on('one', (request, signal) => {
      if (token !== '') return [says('done')];
      token = request.workbench?.contextQuery?.token ?? '';
      begin();
      return untilAborted(signal);
    });
    const runId = await test_.start(
      await test_.workflow(chain(input(), agent('one'), output({ text: '{{ one.text }}' }))),
    );
    await acting;
    const history = (): ReturnType<typeof readRunHistory> =>
      readRunHistory(
        database.dataSource,
        new RunEventStore(database.dataSource),
        { maxVisits: 200, maxTextBytes: 1e6, maxRunBytes: 1e8 },
        runId,
      );
    expect((await history()).finished).toBe(false);
    const lease = (until: string): Promise<unknown> =>
      database.dataSource.query(
        `UPDATE runs SET lease_owner = 'another', lease_epoch = lease_epoch + 1, lease_until = now() + $2::interval
          WHERE run_id = $1`,
        [runId, until],
      );
    await lease('1 hour');
    expect(test_.tokens.authenticate(token)).not.toBeNull();
    await test_.engine.registry.renew();
    await test_.until(() => test_.tokens.authenticate(token) === null, 'the token to die');
    // The other one dies too.
    await lease('-1 second');
    expect((await test_.end(runId)).run.outputs).toMatchObject({ text: 'done' });
    expect((await history()).finished).toBe(true);
  });
});
