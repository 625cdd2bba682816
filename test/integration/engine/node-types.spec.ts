import { says } from '../../support/engine/scripted-runtime.js';
import type { TestEngine } from '../../support/engine/test-engine.js';
import { TestEngines } from '../../support/engine/test-engines.js';
import { chain, input, node, output } from './graphs.js';

describe('node types in a run', () => {
  let engines: TestEngines;
  const start = (options?: { owner?: string; leaseSeconds?: number }): Promise<TestEngine> =>
    engines.start(options);
  beforeAll(async () => {
    engines = await TestEngines.open();
  });
  afterEach(() => engines.stop());
  afterAll(() => engines.close());

  it('a delay outlives a restart, and ends when it was due', async () => {
    const first = await start({ owner: 'first' });
    const workflow = await first.workflow(
      chain(input(), node('d', 'delay', { seconds: 1.5 }), output({ x: '{{ d }}' })),
    );
    const runId = await first.start(workflow);
    const waiting = async () => (await first.visits.ofRun(runId)).find(({ status }) => status === 'WAITING');
    await first.until(async () => (await waiting()) !== undefined, 'the wait');
    const until = new Date((await waiting())?.waiting?.until as string);
    await first.engine.dispatcher.stop();
    const second = await start({ owner: 'second' });
    const { run, visit } = await second.end(runId);
    expect(run).toMatchObject({ status: 'SUCCESS', outputs: { x: {} } });
    expect(visit('d')).toMatchObject({ attempt: 1 });
    expect(run.completedAt?.getTime()).toBeGreaterThanOrEqual(until.getTime());
    // It did not begin to wait again.
    expect(second.events.filter(({ event }) => event.kind === 'visit-waiting')).toEqual([]);
  });

  it('code, a structured answer and a failing code node', async () => {
    const test = await start();
    test.runtime.on('s', () => [says('{"score": 7}', { score: 7 })]);
    const outputSchema = { type: 'object', required: ['score'], properties: { score: { type: 'integer' } } };
    const workflow = await test.workflow(
      chain(
        input(),
        node('s', 'smartAction', { model: 'demo', prompt: 'Score {{ in.text }}', outputSchema }),
        node('c', 'code', {
          code: 'console.log("twice"); return { twice: inputs.n * 2 }',
          inputs: { n: '{{ s.score }}' },
        }),
        output({ twice: '{{ c.twice }}', all: { deep: ['{{ s.score }}', 'n={{ c.twice }}'] } }),
      ),
    );
    const { run } = await test.runToEnd(workflow, { text: 'x' });
    expect(run.outputs).toEqual({ twice: 14, all: { deep: [7, 'n=14'] } });
    const broken = await test.workflow(
      chain(input(), node('c', 'code', { code: 'throw new Error("broken")' }), output({})),
    );
    expect((await test.runToEnd(broken)).run).toMatchObject({
      status: 'FAILED',
      error: 'broken',
      errorDetail: { code: 'CODE_ERROR', nodeId: 'c' },
    });
  });
});
