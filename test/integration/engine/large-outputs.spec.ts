import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { TestEngine } from '../../support/engine/test-engine.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { chain, edge, input, node, output } from './graphs.js';

/** 6 MB of UTF-8: one fits into the database, two do not. */
const TEXT = '大'.repeat(2_000_000);
const BYTES = 6_000_002;

describe('outputs too large for the database', () => {
  let database: TestDatabase;
  let test: TestEngine;
  beforeAll(async () => {
    database = await createTestDatabase();
    test = await TestEngine.start(database);
  });
  afterAll(async () => {
    await test.stop();
    await database.close();
  });

  const contentOf = async (runId: string, file: string): Promise<unknown> =>
    JSON.parse(await readFile(path.join(test.workspaces.directory(runId), file), 'utf8'));

  it('keep the names of the outputs, also where several nodes give them', async () => {
    const workflow = await test.workflow({
      nodes: [
        input({ name: 't', type: 'string' }),
        output({ small: 1, a: '{{ in.t }}', b: '{{ in.t }}' }, 'one'),
        output({ c: '{{ in.t }}', d: '{{ in.t }}' }, 'two'),
      ],
      edges: [edge('in', 'one'), edge('in', 'two')],
    });
    const { run } = await test.runToEnd(workflow, { t: TEXT });
    expect(run.outputs).toEqual({
      small: 1,
      a: { _outputFile: '.outputs/one-1-2.json', _bytes: BYTES },
      b: TEXT,
      c: { _outputFile: '.outputs/two-1-1.json', _bytes: BYTES },
      d: TEXT,
    });
    for (const file of ['.outputs/one-1-2.json', '.outputs/two-1-1.json']) {
      expect(await contentOf(run.runId, file)).toBe(TEXT);
    }
  });

  it('come from a child run with their files', async () => {
    const child = await test.workflow(
      chain(input({ name: 't', type: 'string' }), output({ a: '{{ in.t }}', b: '{{ in.t }}' })),
    );
    const call = node('call', 'subWorkflow', { workflowName: child.name, variables: { t: '{{ in.t }}' } });
    const workflow = await test.workflow(
      chain(input({ name: 't', type: 'string' }), call, output({ x: '{{ call.a }}' })),
    );
    const { run } = await test.runToEnd(workflow, { t: TEXT });
    expect(run.outputs).toEqual({ x: { _outputFile: '.outputs/call-1/out-1-1.json', _bytes: BYTES } });
    expect(await contentOf(run.runId, '.outputs/call-1/out-1-1.json')).toBe(TEXT);
  });
});
