import type { TestEngine } from '../../support/engine/test-engine.js';
import { TestEngines } from '../../support/engine/test-engines.js';
import { says, untilAborted } from '../../support/engine/scripted-runtime.js';
import { agent, chain, input, output, yesOrNo } from './graphs.js';

describe('recovery', () => {
  let engines: TestEngines;
  const start = (options?: { owner?: string; leaseSeconds?: number }): Promise<TestEngine> =>
    engines.start(options);
  beforeAll(async () => {
    engines = await TestEngines.open();
  });
  afterEach(() => engines.stop());
  afterAll(() => engines.close());

  it('goes on from the last finished visit after a stop, with the same visit as a further attempt', async () => {
    const first = await start({ owner: 'first' });
    first.runtime.on('slow', (_request, signal) => untilAborted(signal));
    const workflow = await first.workflow(
      chain(input(), agent('done'), agent('slow'), output({ x: '{{ done.text }}/{{ slow.text }}' })),
    );
    const runId = await first.start(workflow);
    await first.untilBegun(runId, 'slow');
    const before = await first.visits.ofRun(runId);
    await first.engine.dispatcher.stop();

    const second = await start({ owner: 'second' });
    const { run, visits, visit } = await second.end(runId);
    expect(run.outputs).toEqual({ x: 'done done/slow done' });
    expect(second.runtime.callsOf('done')).toBe(0);
    expect(visit('slow')).toMatchObject({ visitUuid: before.at(-1)?.visitUuid, attempt: 2 });
    expect(visits).toHaveLength(4);
    const stored = await second.store.readAfter(runId, 0, 100);
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, at) => at + 1));
    expect(stored.filter(({ type }) => type === 'run_started')).toHaveLength(1);
  });

  it('takes over an expired lease, and the old holder can write no more', async () => {
    const hung = await start({ owner: 'hung', leaseSeconds: 0.3 });
    // It lives on but no longer renews, as a process that is stopped or cut off from the engines.database.
    hung.engine.registry.renew = () => Promise.resolve();
    let finish: () => void = () => undefined;
    hung.runtime.on('slow', async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      return [says('too late')];
    });
    const workflow = await hung.workflow(chain(input(), agent('slow'), output({ x: '{{ slow.text }}' })));
    const runId = await hung.start(workflow);
    await hung.untilBegun(runId, 'slow');

    const second = await start({ owner: 'second' });
    const { run } = await second.end(runId);
    expect(run.outputs).toEqual({ x: 'slow done' });
    const count = (await second.store.readAfter(runId, 0, 100)).length;
    finish();
    await hung.until(() => hung.engine.registry.size === 0, 'the old holder to leave the run');
    expect(await second.store.readAfter(runId, 0, 100)).toHaveLength(count);
    expect((await second.end(runId)).visit('slow')?.envelope?.data).toEqual({ text: 'slow done' });
  });

  it('never shares a live run: a second process leaves it alone', async () => {
    const first = await start({ owner: 'first' });
    let finish: () => void = () => undefined;
    // Made now: the node has begun some time before its agent is asked.
    const finished = new Promise<void>((resolve) => (finish = resolve));
    first.runtime.on('slow', async () => {
      await finished;
      return [says('mine')];
    });
    const workflow = await first.workflow(chain(input(), agent('slow'), output({ x: '{{ slow.text }}' })));
    const runId = await first.start(workflow);
    await first.untilBegun(runId, 'slow');
    const second = await start({ owner: 'second' });
    expect(await second.leases.claimable(100)).not.toContain(runId);
    expect(await second.leases.claim(runId)).toBeNull();
    finish();
    expect((await second.end(runId)).run.outputs).toEqual({ x: 'mine' });
    expect(second.runtime.requests).toHaveLength(0);
  });

  it('does not evaluate a decided condition again, and keeps skipped branches skipped', async () => {
    const first = await start({ owner: 'first' });
    first.runtime.on('yes', (_request, signal) => untilAborted(signal));
    const workflow = await first.workflow(yesOrNo());
    const runId = await first.start(workflow, { n: 9 });
    await first.untilBegun(runId, 'yes');
    await first.engine.dispatcher.stop();
    const second = await start({ owner: 'second' });
    const { run, visits } = await second.end(runId);
    expect(run.outputs).toEqual({ x: 'yes done' });
    expect(visits.map(({ nodeId, status }) => `${nodeId} ${status}`)).toEqual([
      'in SUCCESS',
      'c SUCCESS',
      'no SKIPPED',
      'yes SUCCESS',
      'out SUCCESS',
    ]);
  });
});
