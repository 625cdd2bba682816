import { HeldJournal } from '../../support/engine/held-journal.js';
import { fails, says } from '../../support/engine/scripted-runtime.js';
import { TestEngine } from '../../support/engine/test-engine.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, edge, input, node, output } from './graphs.js';

/** A promise that a script waits for, and what resolves it. */
function signal(): { come: Promise<void>; give: () => void } {
  let give!: () => void;
  const come = new Promise<void>((resolve) => (give = resolve));
  return { come, give };
}

/** Everything that was about to happen in this process has happened, as far as it needs no commit. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe('what is told to end while its beginning is being stored', () => {
  let database: TestDatabase;
  let test: TestEngine;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(async () => {
    test = await TestEngine.start(database);
  });
  afterEach(() => test.stop());
  afterAll(() => database.close());

  it('does not act: a node of an item in which another one failed', async () => {
    const mayEnd = signal();
    const mayFail = signal();
    test.runtime.on('each.x', async () => {
      await mayEnd.come;
      return [says('x')];
    });
    test.runtime.on('each.z', async () => {
      await mayFail.come;
      return [fails('no')];
    });
    const graph = {
      nodes: [agent('x'), agent('y'), agent('z'), output({ v: '{{ y.text }}{{ z.text }}' }, 'o')],
      edges: [edge('x', 'y'), edge('y', 'o'), edge('z', 'o')],
    };
    const each = node('each', 'iteration', { items: [1], graph });
    const workflow = await test.workflow({
      nodes: [input(), each, output({ x: '1' })],
      edges: [edge('in', 'each'), edge('each', 'out')],
    });
    const runId = await test.start(workflow);
    await test.untilBegun(runId, 'each.x');
    await test.untilBegun(runId, 'each.z');
    const journal = new HeldJournal(test);
    mayEnd.give();
    await journal.reached;
    mayFail.give();
    await settled();
    journal.go();
    const { run, visit } = await test.end(runId);
    expect(run.status).toBe('FAILED');
    expect(visit('each.y')).toMatchObject({ status: 'FAILED', errorCode: 'CANCELLED' });
    expect(test.runtime.callsOf('each.y')).toBe(0);
  });

  it('does not act: the next attempt of a node in a run in which another one failed', async () => {
    const mayFail = signal();
    test.runtime.on('again', () => [fails('later', { retryable: true })]);
    test.runtime.on('other', async () => {
      await mayFail.come;
      return [fails('no')];
    });
    const retry = { maxAttempts: 2, backoffSeconds: 0.2 };
    const workflow = await test.workflow({
      nodes: [input(), agent('again', { retry }), agent('other'), output({ x: '1' })],
      edges: [edge('in', 'again'), edge('in', 'other'), edge('again', 'out'), edge('other', 'out')],
    });
    const runId = await test.start(workflow);
    // What the first attempt failed of is told at once; the next attempt is the entry after it.
    await test.until(
      () => test.events.some(({ runId: id, event }) => id === runId && event.kind === 'visit-logged'),
      'the first attempt to fail',
    );
    const journal = new HeldJournal(test);
    await journal.reached;
    mayFail.give();
    await settled();
    journal.go();
    const { run } = await test.end(runId);
    expect(run).toMatchObject({ status: 'FAILED', statusReason: 'NODE_FAILED' });
    expect(test.runtime.callsOf('again')).toBe(1);
  });
});
