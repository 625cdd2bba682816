import { fails, says, untilAborted } from '../../support/engine/scripted-runtime.js';
import type { TestEngine } from '../../support/engine/test-engine.js';
import { type EndedRun } from '../../support/engine/test-engine.js';
import { TestEngines } from '../../support/engine/test-engines.js';
import { agent, chain, edge, input, node, output, when } from './graphs.js';

/** Inner visits of an iteration with their number, status and attempt, in a fixed order. */
function inner({ visits }: EndedRun, prefix = 'each.'): string[] {
  return visits
    .filter(({ nodeId }) => nodeId.startsWith(prefix))
    .map(({ nodeId, iterSeq, status, attempt }) => `${nodeId}#${iterSeq} ${status} ${attempt}`)
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}

const each = (graph: object, more: object = {}) =>
  node('each', 'iteration', { items: '{{ in.list }}', graph, ...more });

describe('iteration in a run', () => {
  let engines: TestEngines;
  const start = (options?: { owner?: string; leaseSeconds?: number }): Promise<TestEngine> =>
    engines.start(options);
  beforeAll(async () => {
    engines = await TestEngines.open();
  });
  afterEach(() => engines.stop());
  afterAll(() => engines.close());

  it('walks the graph for each item; its nodes read item, index and the nodes before', async () => {
    const test = await start();
    const graph = chain(
      node('t', 'template', { template: '{{ in.name }}/{{ index }}/{{ item.a }}' }),
      output({ text: '{{ t.text }}', item: '{{ item }}' }, 'o'),
    );
    const workflow = await test.workflow(chain(input(), each(graph), output({ all: '{{ each.items }}' })));
    const ended = await test.runToEnd(workflow, { name: '甲', list: [{ a: 1 }, { a: [2] }, 'x'] });
    expect(ended.run.outputs).toEqual({
      all: [
        { text: '甲/0/1', item: { a: 1 } },
        { text: '甲/1/[2]', item: { a: [2] } },
        { text: '甲/2/', item: 'x' },
      ],
    });
    expect(inner(ended)).toEqual(
      [1, 2, 3].map((n) => `each.o#${n} SUCCESS 1`).concat([1, 2, 3].map((n) => `each.t#${n} SUCCESS 1`)),
    );
  });

  it('fails with its first failing item, or goes on without it', async () => {
    const test = await start();
    test.runtime.on('each.work', (request, signal) =>
      request.inputEnvelope.instruction === '1' ? [fails('boom')] : untilAborted(signal),
    );
    const graph = chain(agent('work', { prompt: '{{ index }}' }), output({ x: '{{ work.text }}' }, 'o'));
    const nodes = (strategy: string) =>
      chain(
        input(),
        each(graph, { failStrategy: strategy, concurrency: 2 }),
        output({ all: '{{ each.items }}' }),
      );
    const aborted = await test.runToEnd(await test.workflow(nodes('abort')), { list: [0, 0, 0] });
    expect(aborted.run).toMatchObject({
      status: 'FAILED',
      statusReason: 'NODE_FAILED',
      error: 'item 1 failed at node each.work: boom',
    });
    expect(inner(aborted)).toEqual(['each.work#1 FAILED 1', 'each.work#2 FAILED 1']);
    const skipped = await test.runToEnd(await test.workflow(nodes('skip')), { list: [0, 0, 0] });
    expect(skipped.run).toMatchObject({ status: 'SUCCESS', outputs: { all: null } });
    expect(skipped.visits.filter(({ status }) => status === 'RUNNING')).toEqual([]);
  });

  it('nests, and tells the visits of every level apart', async () => {
    const test = await start();
    const innermost = output({ v: '{{ item }}' }, 'leaf');
    const row = node('row', 'iteration', { items: '{{ item }}', graph: chain(innermost) });
    const workflow = await test.workflow(
      chain(
        input(),
        each(chain(row, output({ cells: '{{ row.items }}' }, 'o'))),
        output({ all: '{{ each.items }}' }),
      ),
    );
    const ended = await test.runToEnd(workflow, { list: [[1, 2], [3]] });
    expect(ended.run.outputs).toEqual({ all: [{ cells: [{ v: 1 }, { v: 2 }] }, { cells: [{ v: 3 }] }] });
    expect(inner(ended, 'each.row.')).toEqual([
      'each.row.leaf#1 SUCCESS 1',
      'each.row.leaf#2 SUCCESS 1',
      'each.row.leaf#1001 SUCCESS 1',
    ]);
  });

  it('tells several visits of one iteration in a cycle apart, also after a restart', async () => {
    const first = await start({ owner: 'first' });
    let slowly = true;
    const hang = (signal: AbortSignal) => untilAborted(signal);
    first.runtime.on('each.work', (request, signal) =>
      slowly && request.inputEnvelope.instruction === '2/1'
        ? hang(signal)
        : [says(request.inputEnvelope.instruction)],
    );
    const graph = chain(
      agent('work', { prompt: '{{ round.round }}/{{ index }}' }),
      output({ x: '{{ work.text }}' }, 'o'),
    );
    const workflow = await first.workflow(
      {
        nodes: [
          input(),
          node('round', 'code', {
            code: 'return { round: inputs.before + 1 }',
            inputs: { before: '{{ round.round | default: 0 }}' },
          }),
          each(graph, { concurrency: 1 }),
          when('again', [{ id: 'yes', variable: 'round.round', operator: 'lessThan', value: 2 }]),
          output({ all: '{{ each.items }}' }),
        ],
        edges: [
          edge('in', 'round'),
          edge('round', 'each'),
          edge('each', 'again'),
          edge('again', 'round', 'yes'),
          edge('again', 'out', 'else'),
        ],
      },
      { mode: 'AGENTIC' },
    );
    const runId = await first.start(workflow, { list: [0, 0] });
    await first.until(
      () => first.runtime.requests.some(({ inputEnvelope }) => inputEnvelope.instruction === '2/1'),
      'the second round',
    );
    await first.engine.dispatcher.stop();
    slowly = false;
    const second = await start({ owner: 'second' });
    second.runtime.on('each.work', (request) => [says(`again ${request.inputEnvelope.instruction}`)]);
    const ended = await second.end(runId);
    expect(ended.run.outputs).toEqual({ all: [{ x: '2/0' }, { x: 'again 2/1' }] });
    expect(inner(ended, 'each.work')).toEqual([
      'each.work#1 SUCCESS 1',
      'each.work#2 SUCCESS 1',
      'each.work#1001 SUCCESS 1',
      'each.work#1002 SUCCESS 2',
    ]);
    expect(second.runtime.callsOf('each.work')).toBe(1);
  });

  it('does not execute finished items again when it is tried again after its time', async () => {
    const test = await start();
    let hangs = true;
    test.runtime.on('each.work', (request, signal) =>
      hangs && request.inputEnvelope.instruction === '2'
        ? untilAborted(signal)
        : [says(request.inputEnvelope.instruction)],
    );
    const graph = chain(agent('work', { prompt: '{{ index }}' }), output({ x: '{{ work.text }}' }, 'o'));
    const data = { concurrency: 1, timeoutSeconds: 0.5, retry: { maxAttempts: 2, backoffSeconds: 0 } };
    const workflow = await test.workflow(
      chain(input(), each(graph, data), output({ all: '{{ each.items }}' })),
    );
    const runId = await test.start(workflow, { list: [0, 0, 0, 0] });
    await test.until(() => test.runtime.callsOf('each.work') === 3, 'the item that hangs');
    hangs = false;
    const ended = await test.end(runId);
    expect(ended.run.outputs).toEqual({ all: [{ x: '0' }, { x: '1' }, { x: '2' }, { x: '3' }] });
    expect(ended.visit('each')).toMatchObject({ attempt: 2 });
    expect(inner(ended, 'each.work')).toEqual([
      'each.work#1 SUCCESS 1',
      'each.work#2 SUCCESS 1',
      'each.work#3 SUCCESS 2',
      'each.work#4 SUCCESS 1',
    ]);
    expect(test.runtime.callsOf('each.work')).toBe(5);
  });

  it('keeps to the run’s concurrency, its items included', async () => {
    const test = await start();
    let acting = 0;
    let most = 0;
    let open: () => void = () => undefined;
    const three = new Promise<void>((resolve) => (open = resolve));
    const work = async () => {
      acting += 1;
      most = Math.max(most, acting);
      if (acting === 3) open();
      await three;
      await new Promise((resolve) => setImmediate(resolve));
      acting -= 1;
      return [says('done')];
    };
    for (const id of ['each.a', 'each.b', 'c1', 'c2', 'c3']) test.runtime.on(id, work);
    const graph = {
      nodes: [agent('a'), agent('b'), output({ x: '{{ a.text }}{{ b.text }}' }, 'o')],
      edges: [edge('a', 'o'), edge('b', 'o')],
    };
    const wide = {
      nodes: [
        input(),
        each(graph, { concurrency: 10 }),
        agent('c1'),
        agent('c2'),
        agent('c3'),
        output({ all: '{{ each.items }}' }),
      ],
      edges: ['each', 'c1', 'c2', 'c3'].flatMap((id) => [edge('in', id), edge(id, 'out')]),
    };
    const workflow = await test.workflow(wide, { settings: { concurrency: 3 } });
    const { run, visits } = await test.runToEnd(workflow, { list: Array(12).fill(0) });
    expect(run.outputs).toEqual({ all: Array(12).fill({ x: 'donedone' }) });
    expect(visits).toHaveLength(6 + 36);
    expect(most).toBe(3);
  });

  it('tries a failed item again where a restart cut off what followed from it', async () => {
    const first = await start({ owner: 'first' });
    first.runtime.on('each.work', () => [fails('boom')]);
    const graph = chain(agent('work'), output({ x: '{{ work.text }}' }, 'o'));
    const workflow = await first.workflow(chain(input(), each(graph), output({ all: '{{ each.items }}' })));
    const runId = await first.create(workflow, { list: [0] });
    // What a process leaves that dies between the item's failure and its iteration's.
    const claimed = await first.engine.startRun.execute(runId);
    expect(claimed.startedAt).toBeInstanceOf(Date);
    await first.end(runId);
    await first.engine.dispatcher.stop();
    await engines.database.dataSource.query(
      `UPDATE visits SET status = 'RUNNING', envelope = NULL, error_code = NULL, completed_at = NULL WHERE run_id = $1 AND node_id = 'each'`,
      [runId],
    );
    await engines.database.dataSource.query(`DELETE FROM visits WHERE run_id = $1 AND node_id = 'out'`, [
      runId,
    ]);
    await engines.database.dataSource.query(
      `UPDATE runs SET status = 'RUNNING', status_reason = NULL, error = NULL, completed_at = NULL, lease_owner = NULL, lease_until = now() WHERE run_id = $1`,
      [runId],
    );
    const second = await start({ owner: 'second' });
    const ended = await second.end(runId);
    expect(ended.run.outputs).toEqual({ all: [{ x: 'each.work done' }] });
    expect(inner(ended)).toEqual(['each.o#1 SUCCESS 1', 'each.work#1 SUCCESS 2']);
  });
});
