/**
 * Faults that were reported of other workflow engines, each by its name, against this one. The rules behind them have
 * more tests of their own: joins of every kind in src/engine/walks/dag-walk.spec.ts and agentic-walk.spec.ts, leases
 * and restarts in recovery.spec.ts, caps in agentic.spec.ts, kill -9 of real servers in test/faults.
 */
import { says, untilAborted } from '../../support/engine/scripted-runtime.js';
import type { TestEngine } from '../../support/engine/test-engine.js';
import { TestEngines } from '../../support/engine/test-engines.js';
import { agent, chain, edge, input, node, output, when, yesOrNo } from './graphs.js';

describe('a fault reported of other engines does not happen here:', () => {
  let engines: TestEngines;
  const start = (options?: { owner?: string; leaseSeconds?: number }): Promise<TestEngine> =>
    engines.start(options);
  /** It no longer renews its leases, as a process that has died; what hangs in it, hangs. */
  const die = (engine: TestEngine): void => {
    engine.engine.registry.renew = () => Promise.resolve();
  };
  const calls = (nodeId: string): number =>
    engines.all.reduce((sum, engine) => sum + engine.runtime.callsOf(nodeId), 0);
  const text = (id: string) => node(id, 'template', { template: id });

  beforeAll(async () => {
    engines = await TestEngines.open();
  });
  afterEach(() => engines.stop());
  afterAll(() => engines.close());

  it('a run `running` for ever after its process died', async () => {
    const first = await start({ leaseSeconds: 0.3 });
    first.runtime.on('slow', (_request, signal) => untilAborted(signal));
    const workflow = await first.workflow(chain(input(), agent('slow'), output({ x: '{{ slow.text }}' })));
    const runId = await first.start(workflow);
    await first.untilBegun(runId, 'slow');
    die(first);
    const second = await start();
    expect((await second.end(runId)).run).toMatchObject({ status: 'SUCCESS', outputs: { x: 'slow done' } });
  });

  it('recovery that rewrites a finished run', async () => {
    const first = await start();
    const workflow = await first.workflow(chain(input(), agent('a'), output({ x: '{{ a.text }}' })));
    const { run } = await first.runToEnd(workflow);
    // xmin changes with every update of a row, whatever it writes.
    const stored = () =>
      engines.database.dataSource.query<unknown[]>(
        `SELECT xmin::text, 'run' AS what, 0 AS at, to_json(runs)::text AS row FROM runs WHERE run_id = $1
         UNION ALL SELECT xmin::text, 'visit', sort_order, to_json(visits)::text FROM visits WHERE run_id = $1
         UNION ALL SELECT xmin::text, 'event', seq, to_json(run_events)::text FROM run_events WHERE run_id = $1
         ORDER BY what, at`,
        [run.runId],
      );
    const before = await stored();
    await first.leases.forfeitAll();
    const second = await start();
    expect(await second.leases.claim(run.runId)).toBeNull();
    expect(await second.leases.seize(run.runId)).toBeNull();
    expect(await second.leases.wake(run.runId)).toBe(false);
    await second.leases.release([{ runId: run.runId, epoch: run.leaseEpoch }]);
    await expect(second.engine.startRun.execute(run.runId)).rejects.toMatchObject({
      code: 'RUN_ALREADY_STARTED',
    });
    await expect(second.engine.cancelRun.execute(run.runId)).rejects.toMatchObject({
      code: 'RUN_NOT_ACTIVE',
    });
    // A sweep has passed when a run that was left for it has ended.
    await second.runToEnd(workflow);
    expect(await stored()).toEqual(before);
  });

  it('queued runs never picked up after a restart', async () => {
    const first = await start();
    const workflow = await first.workflow(chain(input(), agent('a'), output({ x: '{{ a.text }}' })));
    await first.engine.dispatcher.stop();
    // Started, and then nobody had the time to take them.
    const runIds = await Promise.all(Array.from({ length: 20 }, () => first.create(workflow)));
    for (const runId of runIds) expect((await first.leases.start(runId, false))?.lease).toBeNull();
    const second = await start();
    for (const runId of runIds) expect((await second.end(runId)).run.status).toBe('SUCCESS');
    expect(calls('a')).toBe(20);
  });

  it('a node longer than its lease executed twice', async () => {
    const first = await start({ leaseSeconds: 0.3 });
    const second = await start({ leaseSeconds: 0.3 });
    for (const engine of [first, second]) {
      engine.runtime.on('long', async () => {
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        return [says('at last')];
      });
    }
    const workflow = await first.workflow(chain(input(), agent('long'), output({ x: '{{ long.text }}' })));
    const runId = await first.start(workflow);
    const { run, visit } = await first.end(runId);
    expect(run.outputs).toEqual({ x: 'at last' });
    expect([calls('long'), visit('long')?.attempt, run.leaseEpoch]).toEqual([1, 1, 1]);
  });

  it.each(['DAG', 'AGENTIC'] as const)('a branch choice that starves a join (%s)', async (mode) => {
    const test = await start();
    const workflow = await test.workflow(
      {
        nodes: [
          input({ name: 'n', type: 'number' }),
          when('c', [{ id: 'big', variable: 'in.n', operator: 'greaterThan', value: 5 }]),
          agent('yes'),
          agent('no'),
          text('always'),
          agent('join', { join: 'all' }),
          output({ x: '{{ yes.text }}{{ no.text }}+{{ join.text }}' }),
        ],
        edges: [
          edge('in', 'c'),
          edge('in', 'always'),
          edge('c', 'yes', 'big'),
          edge('c', 'no', 'else'),
          ...['yes', 'no', 'always'].map((id) => edge(id, 'join')),
          edge('join', 'out'),
        ],
      },
      { mode },
    );
    const big = await test.runToEnd(workflow, { n: 9 });
    const small = await test.runToEnd(workflow, { n: 1 });
    expect([big.run.outputs, small.run.outputs]).toEqual([
      { x: 'yes done+join done' },
      { x: 'no done+join done' },
    ]);
    expect([calls('yes'), calls('no'), calls('join')]).toEqual([1, 1, 2]);
  });

  it.each(['DAG', 'AGENTIC'] as const)(
    'branches of unequal length that run their join early or twice (%s)',
    async (mode) => {
      const test = await start();
      const workflow = await test.workflow(
        {
          nodes: [
            input(),
            text('short'),
            ...['l1', 'l2', 'l3', 'l4'].map((id) => agent(id)),
            agent('join', { join: 'all', prompt: '{{ short.text }} {{ l4.text }}' }),
            output({ x: '{{ join.text }}' }),
          ],
          edges: [
            edge('in', 'short'),
            edge('in', 'l1'),
            edge('l1', 'l2'),
            edge('l2', 'l3'),
            edge('l3', 'l4'),
            edge('short', 'join'),
            edge('l4', 'join'),
            edge('join', 'out'),
          ],
        },
        { mode },
      );
      const { run, visits } = await test.runToEnd(workflow);
      expect(run.status).toBe('SUCCESS');
      expect(visits.filter(({ nodeId }) => nodeId === 'join')).toHaveLength(1);
      const [request] = test.runtime.requests.filter(({ workbench }) => workbench?.nodeId === 'join');
      expect(request?.inputEnvelope.instruction).toBe('short l4 done');
    },
  );

  it('a node waiting for its own back edge', async () => {
    const test = await start();
    const workflow = await test.workflow(
      {
        nodes: [
          input(),
          node('w', 'code', {
            code: 'return { n: inputs.n + 1 }',
            inputs: { n: '{{ w.n | default: 0 }}' },
            join: 'all',
          }),
          when('c', [{ id: 'again', variable: 'w.n', operator: 'lessThan', value: 3 }]),
          output({ n: '{{ w.n }}' }),
        ],
        edges: [edge('in', 'w'), edge('w', 'c'), edge('c', 'w', 'again'), edge('c', 'out', 'else')],
      },
      { mode: 'AGENTIC' },
    );
    expect((await test.runToEnd(workflow)).run).toMatchObject({ status: 'SUCCESS', outputs: { n: 3 } });
  });

  it('a condition that never says stop', async () => {
    const test = await start();
    const workflow = await test.workflow(
      {
        nodes: [
          input(),
          text('w'),
          when('c', [{ id: 'again', variable: 'w.text', operator: 'equals', value: 'w' }]),
          output({ x: '{{ w.text }}' }),
        ],
        edges: [edge('in', 'w'), edge('w', 'c'), edge('c', 'w', 'again'), edge('c', 'out', 'else')],
      },
      { mode: 'AGENTIC', settings: { maxVisits: 20 } },
    );
    const { run, visits } = await test.runToEnd(workflow);
    expect(run).toMatchObject({ status: 'FAILED', statusReason: 'MAX_VISITS' });
    expect(run.error).toMatch(/^node [wc] would be visit 21 of the run, which may have 20$/);
    expect(visits.filter(({ status }) => status === 'SUCCESS')).toHaveLength(20);
  });

  it('a resumed step whose condition is evaluated again', async () => {
    const first = await start();
    first.runtime.on('yes', (_request, signal) => untilAborted(signal));
    const workflow = await first.workflow(yesOrNo());
    const runId = await first.start(workflow, { n: 9 });
    await first.untilBegun(runId, 'yes');
    await first.engine.dispatcher.stop();
    // Were it evaluated again, it would now decide otherwise.
    await engines.database.dataSource.query(
      `UPDATE workflow_versions SET graph_data = replace(graph_data::text, 'greaterThan', 'lessThan')::json
        WHERE workflow_id = $1`,
      [workflow.workflowId],
    );
    const second = await start();
    const { run, visits } = await second.end(runId);
    expect(run.outputs).toEqual({ x: 'yes done' });
    expect(visits.filter(({ nodeId }) => nodeId === 'c')).toMatchObject([
      { attempt: 1, chosenHandle: 'big' },
    ]);
    expect(calls('no')).toBe(0);
  });

  it('thousands of nodes overflowing the stack, also where they are restored', async () => {
    const COUNT = 2_000;
    const first = await start();
    const many = Array.from({ length: COUNT }, (_, at) => text(`t${at}`));
    const workflow = await first.workflow(chain(input(), ...many, output({ x: `{{ t${COUNT - 1}.text }}` })));
    const runId = await first.start(workflow);
    const half = `t${COUNT / 2}`;
    await first.until(
      () => first.events.some(({ event }) => event.kind === 'visit-ended' && event.visit.nodeId === half),
      'half of them to end',
    );
    await first.engine.dispatcher.stop();
    const second = await start();
    await second.until(
      () => second.events.some(({ event }) => event.kind === 'run-finished'),
      'the end of the run',
    );
    const { run, visits } = await second.end(runId);
    expect(run.outputs).toEqual({ x: `t${COUNT - 1}` });
    expect(visits).toHaveLength(COUNT + 2);
    // At most the one that was cut off was begun again.
    expect(visits.filter(({ attempt }) => attempt > 1).length).toBeLessThanOrEqual(1);
  }, 90_000);

  it('concurrent resume of one run executing a step twice', async () => {
    const first = await start();
    first.runtime.on('slow', (_request, signal) => untilAborted(signal));
    const workflow = await first.workflow(chain(input(), agent('slow'), agent('next'), output({ x: '1' })));
    const runId = await first.start(workflow);
    await first.untilBegun(runId, 'slow');
    await first.engine.dispatcher.stop();
    const before = calls('slow');

    // Some find it by themselves, all are told of it at the same time, and some are told twice.
    const others = await Promise.all([start(), start(), start()]);
    for (const other of [...others, ...others]) other.engine.dispatcher.dispatch(runId);
    const { run, visits } = await others[0].end(runId);
    expect(run.status).toBe('SUCCESS');
    expect([calls('slow') - before, calls('next')]).toEqual([1, 1]);
    expect(visits.map(({ nodeId, attempt }) => [nodeId, attempt])).toEqual([
      ['in', 1],
      ['slow', 2],
      ['next', 1],
      ['out', 1],
    ]);
    const claims = await Promise.all(others.map((other) => other.leases.claim(runId)));
    expect(claims).toEqual([null, null, null]);
  });

  it('concurrent claims of one run that are both granted', async () => {
    const first = await start();
    const workflow = await first.workflow(chain(input(), output({ x: '1' })));
    await first.engine.dispatcher.stop();
    const runId = await first.create(workflow);
    await first.leases.start(runId, false);
    const claims = await Promise.all(Array.from({ length: 16 }, () => first.leases.claim(runId)));
    expect(claims.filter((held) => held !== null)).toHaveLength(1);
  });
});
