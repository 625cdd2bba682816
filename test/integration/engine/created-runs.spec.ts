import { jest } from '@jest/globals';
import { newRunId } from '../../../src/common/ids/run-id.js';
import { CreatedRuns } from '../../../src/engine/use-cases/created-runs.js';
import type { NewRun } from '../../../src/runs/run.repository.js';
import { TestEngines } from '../../support/engine/test-engines.js';
import { chain, input, output } from './graphs.js';

describe('a run that this process has created', () => {
  let engines: TestEngines;
  beforeAll(async () => {
    engines = await TestEngines.open();
  });
  afterEach(() => engines.stop());
  afterAll(() => engines.close());

  it('is known as the database has it', async () => {
    const engine = await engines.start();
    const run: NewRun = {
      runId: newRunId(),
      workflowId: '7',
      workflowVersion: 3,
      variables: { '10': 'a', '9': '\u0000 \ud800', zero: -0, deep: { b: [null, 1.5], a: '大' } },
      failStrategy: 'skip',
      ttlHours: 12,
      apiKeyName: 'ci',
      callbackUrl: 'http://example.com/\u0000',
      parentRunId: newRunId(),
      parentVisitUuid: '5f0c1f2e-0000-4000-8000-000000000001',
      rerunOf: newRunId(),
      rerunFromNode: 'a',
      createdAt: new Date(),
    };
    await engine.runs.insert(run);
    const created = new CreatedRuns();
    created.remember(run);
    const known = created.take(run.runId);
    const stored = await engine.runs.find(run.runId);
    expect(known).toEqual(stored);
    expect(JSON.stringify(known?.variables)).toBe(JSON.stringify(stored?.variables));
  });

  it('is not read again when it starts; one of another process is', async () => {
    const [here, there] = [await engines.start(), await engines.start()];
    const workflow = await here.workflow(
      chain(input({ name: 't', type: 'string' }), output({ x: '{{ in.t }}' })),
    );
    const reads = jest.spyOn(here.connections.admission, 'query');
    const started = async (runId: string) => {
      reads.mockClear();
      await here.engine.startRun.execute(runId);
      const statements = reads.mock.calls.map(([{ name }]) => name);
      expect((await here.end(runId)).run).toMatchObject({ status: 'SUCCESS', outputs: { x: 'a' } });
      return statements;
    };
    expect(await started(await here.create(workflow, { t: 'a' }))).toEqual([]);
    expect(await started(await there.create(workflow, { t: 'a' }))).toEqual(['find created runs']);
  });
});
