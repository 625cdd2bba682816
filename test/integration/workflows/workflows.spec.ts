import { AuditLog } from '../../../src/audit/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import {
  CheckDefinition,
  CreateWorkflow,
  DeleteWorkflow,
  GraphInvalidError,
  ImportWorkflow,
  ListWorkflows,
  UpdateWorkflow,
  ValidateWorkflow,
  WorkflowChangedError,
  WorkflowExistsError,
  WorkflowNotFoundError,
  WorkflowRepository,
  workflowDocument,
  type GraphData,
  type WorkflowInput,
} from '../../../src/workflows/index.js';

const BY = { actor: { kind: 'admin-key', name: 'tester' }, correlationId: 'r-1' } as const;

let database: TestDatabase;
let repository: WorkflowRepository;
let validateWorkflow: ValidateWorkflow;
let createWorkflow: CreateWorkflow;
let updateWorkflow: UpdateWorkflow;
let deleteWorkflow: DeleteWorkflow;

beforeAll(async () => {
  database = await createTestDatabase({ poolSize: 10 });
  repository = new WorkflowRepository(database.dataSource);
  const audit = new AuditLog({ redactDeep: (value) => value });
  validateWorkflow = new ValidateWorkflow();
  const check = new CheckDefinition(repository, validateWorkflow);
  createWorkflow = new CreateWorkflow(repository, check, audit);
  updateWorkflow = new UpdateWorkflow(repository, check, audit);
  deleteWorkflow = new DeleteWorkflow(repository, audit);
});
afterAll(async () => {
  await validateWorkflow.onModuleDestroy();
  await database.close();
});

function graph(text = 'x', ...between: GraphData['nodes']): GraphData {
  const nodes: GraphData['nodes'] = [
    { id: 'in', type: 'userInput', data: { fields: [] } },
    ...between,
    { id: 'out', type: 'output', data: { fields: [{ name: 'text', value: text }] } },
  ];
  const edges = nodes.slice(1).map(({ id }, at) => ({
    id: `e${at}`,
    source: nodes[at]!.id,
    target: id,
    sourceHandle: null,
  }));
  return { nodes, edges };
}

function input(name: string, graphData = graph()): WorkflowInput {
  return { name, displayName: `展示 ${name}`, description: '说明', mode: 'DAG', graphData, settings: {} };
}

const calls = (workflowName: string, version?: number): GraphData['nodes'][number] => ({
  id: 'call',
  type: 'subWorkflow',
  data: { workflowName, ...(version ? { version } : {}) },
});

describe('creating and finding', () => {
  it('finds a workflow by name and by id, with everything as it was given', async () => {
    const odd = { zeta: 1, alpha: '\u0000 \ud800 量😀', '10': [1.5, null], nested: { b: 1, a: 2 } };
    const text = graph('{{ in.topic }}', {
      id: 'c',
      type: 'code',
      data: { code: 'return inputs', inputs: odd },
    });
    const made = await createWorkflow.execute(
      {
        ...input('first', text),
        displayName: '报告\u0000',
        settings: { concurrency: 2 },
      },
      BY,
    );
    expect(made).toMatchObject({ name: 'first', version: 1, mode: 'DAG' });
    const found = await new WorkflowRepository(database.dataSource).findByNameOrId('first');
    expect(found).toEqual({
      ...made,
      displayName: '报告\u0000',
      settings: { concurrency: 2 },
      graphData: text,
    });
    expect(JSON.stringify(found!.graphData)).toBe(JSON.stringify(text));
    expect(await repository.findByNameOrId(String(made.workflowId))).toEqual(found);
    expect(await repository.findVersion(String(made.workflowId), 1)).toEqual(found);
  });

  it('takes a name of digits before an id', async () => {
    const other = await createWorkflow.execute(input('other'), BY);
    const digits = await createWorkflow.execute(input(String(other.workflowId)), BY);
    expect((await repository.findByNameOrId(String(other.workflowId)))?.workflowId).toBe(digits.workflowId);
    expect((await repository.findByNameOrId(String(digits.workflowId)))?.name).toBe(digits.name);
    expect((await repository.findCurrent(other.workflowId))?.name).toBe('other');
  });

  it.each([
    '',
    'nobody',
    '0',
    '00',
    '-1',
    '1.0',
    '1e3',
    ' 1',
    '9223372036854775807',
    '9223372036854775808',
    '9'.repeat(64),
    'a\u0000',
    '报告',
    "'; --",
  ])('finds nothing for %j, and no error', async (nameOrId) =>
    expect(await repository.findByNameOrId(nameOrId)).toBeNull(),
  );

  it('gives definitions that nobody can change', async () => {
    await createWorkflow.execute(input('frozen'), BY);
    const found = await repository.findByNameOrId('frozen');
    expect(() => Object.assign(found!.graphData.nodes[0]!.data, { label: 'x' })).toThrow(TypeError);
    expect(await repository.findVersion(found!.workflowId, 2)).toBeNull();
    expect(await repository.findVersion('x', 1)).toBeNull();
    expect(await repository.findVersion(found!.workflowId, 2 ** 31)).toBeNull();
  });

  it('refuses a taken name, also when many ask for it at once, and an invalid graph; nothing is stored', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => createWorkflow.execute(input('contested'), BY)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(WorkflowExistsError);
    }
    await expect(createWorkflow.execute(input('bad', { nodes: [], edges: [] }), BY)).rejects.toThrow(
      GraphInvalidError,
    );
    expect(await repository.findByNameOrId('bad')).toBeNull();
    const [counted] = await database.dataSource.query<{ orphans: number }[]>(
      'SELECT count(*)::int AS orphans FROM workflow_versions v WHERE NOT EXISTS (SELECT 1 FROM workflows w WHERE w.id = v.workflow_id)',
    );
    expect(counted?.orphans).toBe(0);
  });
});

describe('updating', () => {
  it('adds a version and keeps the old ones', async () => {
    const made = await createWorkflow.execute(input('grows', graph('one')), BY);
    const updated = await updateWorkflow.execute(
      'grows',
      {
        ...input('grows', graph('two')),
        displayName: '二',
        mode: 'AGENTIC',
      },
      BY,
    );
    expect(updated).toMatchObject({
      workflowId: made.workflowId,
      version: 2,
      displayName: '二',
      mode: 'AGENTIC',
    });
    expect(await repository.findByNameOrId('grows')).toEqual(updated);
    expect((await repository.findVersion(made.workflowId, 1))?.graphData).toEqual(graph('one'));
    const versions = await repository.listVersions(String(made.workflowId), { limit: 10 });
    expect(versions.map(({ version, mode }) => [version, mode])).toEqual([
      [2, 'AGENTIC'],
      [1, 'DAG'],
    ]);
    expect((await repository.listVersions(String(made.workflowId), { before: 2, limit: 10 })).length).toBe(1);
  });

  it('keeps the name and texts that an update leaves out', async () => {
    await createWorkflow.execute(input('keeps'), BY);
    const updated = await updateWorkflow.execute('keeps', { mode: 'DAG', graphData: graph('y') }, BY);
    expect(updated).toMatchObject({
      name: 'keeps',
      displayName: '展示 keeps',
      description: '说明',
      version: 2,
    });
  });

  it('puts updates at the same time in a row, none lost', async () => {
    const { workflowId } = await createWorkflow.execute(input('busy'), BY);
    const updates = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        updateWorkflow.execute('busy', input('busy', graph(`v${at}`)), BY),
      ),
    );
    expect(updates.map(({ version }) => version).sort((a, b) => a - b)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    ]);
    for (const { version, graphData } of updates) {
      expect((await repository.findVersion(workflowId, version))?.graphData).toEqual(graphData);
    }
    expect((await repository.findByNameOrId('busy'))?.version).toBe(11);
  });

  it('lets one of those win who expect the same version', async () => {
    await createWorkflow.execute(input('guarded'), BY);
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () =>
        updateWorkflow.execute('guarded', { ...input('guarded'), expectedVersion: 1 }, BY),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(WorkflowChangedError);
    }
  });

  it('renames, but not to a taken name; refuses unknown workflows and invalid graphs', async () => {
    await createWorkflow.execute(input('old-name'), BY);
    expect((await updateWorkflow.execute('old-name', input('new-name'), BY)).name).toBe('new-name');
    expect(await repository.findByNameOrId('old-name')).toBeNull();
    await expect(updateWorkflow.execute('new-name', input('first'), BY)).rejects.toThrow(WorkflowExistsError);
    await expect(updateWorkflow.execute('no-such', input('no-such'), BY)).rejects.toThrow(
      WorkflowNotFoundError,
    );
    await expect(
      updateWorkflow.execute('new-name', input('new-name', graph('{{ nobody.x }}')), BY),
    ).rejects.toThrow(GraphInvalidError);
    expect((await repository.findByNameOrId('new-name'))?.version).toBe(2);
  });
});

describe('deleting', () => {
  it('frees the name, and keeps the versions for the runs there were', async () => {
    const made = await createWorkflow.execute(input('gone', graph('before')), BY);
    await deleteWorkflow.execute('gone', BY);
    expect(await repository.findByNameOrId('gone')).toBeNull();
    expect(await repository.findByNameOrId(String(made.workflowId))).toBeNull();
    await expect(deleteWorkflow.execute('gone', BY)).rejects.toThrow(WorkflowNotFoundError);
    await expect(updateWorkflow.execute('gone', input('gone'), BY)).rejects.toThrow(WorkflowNotFoundError);
    expect((await repository.findVersion(made.workflowId, 1))?.graphData).toEqual(graph('before'));
    const again = await createWorkflow.execute(input('gone'), BY);
    expect(again.workflowId).not.toBe(made.workflowId);
  });
});

describe('listing', () => {
  it('pages newest first, each once, while workflows come and go', async () => {
    const names = Array.from({ length: 7 }, (_, at) => `page-${at}`);
    for (const name of names) await createWorkflow.execute(input(name), BY);
    const list = new ListWorkflows(repository);
    const seen: string[] = [];
    let before: string | undefined;
    for (let page = 0; page < 100; page += 1) {
      const { items, next } = await list.execute({ before, limit: 3 });
      seen.push(...items.map(({ name }) => name));
      if (page === 0) {
        await createWorkflow.execute(input('page-late'), BY);
        await deleteWorkflow.execute('page-3', BY);
      }
      if (next === null) break;
      before = next;
    }
    expect(seen.slice(0, 6)).toEqual(['page-6', 'page-5', 'page-4', 'page-2', 'page-1', 'page-0']);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toContain('first');
    expect((await repository.list({ limit: 2 })).map(({ name }) => name)).toEqual(['page-late', 'page-6']);
  });
});

describe('importing', () => {
  it('takes in what was exported, under its name, another, or as a new version', async () => {
    const importWorkflow = new ImportWorkflow(repository, createWorkflow, updateWorkflow);
    await createWorkflow.execute(input('source', graph('量子')), BY);
    const document = workflowDocument((await repository.findByNameOrId('source'))!);
    await expect(importWorkflow.execute(document, {}, BY)).rejects.toThrow(WorkflowExistsError);
    const copy = await importWorkflow.execute(document, { name: 'copy' }, BY);
    expect(workflowDocument(copy)).toEqual({ ...document, name: 'copy' });
    expect(await importWorkflow.execute(document, { overwrite: true }, BY)).toMatchObject({
      name: 'source',
      version: 2,
    });
    expect(await importWorkflow.execute(document, { name: 'brand-new', overwrite: true }, BY)).toMatchObject({
      version: 1,
    });
  });
});

describe('sub-workflows', () => {
  it('may not lead back to the workflow itself, however long the way', async () => {
    await createWorkflow.execute(input('leaf'), BY);
    await createWorkflow.execute(input('middle', graph('x', calls('leaf'))), BY);
    await createWorkflow.execute(input('top', graph('x', calls('middle'))), BY);
    const problemsOf = async (name: string, graphData: GraphData) => {
      try {
        await updateWorkflow.execute(name, input(name, graphData), BY);
        return [];
      } catch (error) {
        if (error instanceof GraphInvalidError) return error.problems;
        throw error;
      }
    };
    expect(await problemsOf('leaf', graph('x', calls('top')))).toEqual([
      expect.objectContaining({
        code: 'SUB_WORKFLOW_CYCLE',
        nodeId: 'call',
        message: expect.stringContaining('leaf → top → middle → leaf') as string,
      }),
    ]);
    const inner = {
      id: 'each',
      type: 'iteration',
      data: { items: [1], graph: graph('x') },
    } as unknown as GraphData['nodes'][number];
    (inner.data.graph as unknown as GraphData).nodes.splice(0, 1, calls('top'));
    (inner.data.graph as unknown as GraphData).edges[0]!.source = 'call';
    expect((await problemsOf('leaf', graph('x', inner))).map(({ nodeId }) => nodeId)).toEqual(['each.call']);
    expect(await problemsOf('leaf', graph('x', calls('leaf')))).toHaveLength(1);
    // Its own first version calls nobody, and never will.
    expect(await problemsOf('leaf', graph('x', calls('leaf', 1)))).toEqual([]);
    expect(await problemsOf('middle', graph('x', calls('no-such-workflow')))).toEqual([]);
  });
});

describe('the audit log', () => {
  it('keeps who changed what, in the transaction of the change', async () => {
    const rows = async (id: number) =>
      database.dataSource.query<
        { action: string; actor: { name: string }; after: { version: number } | null }[]
      >(
        "SELECT action, actor, after FROM audit_logs WHERE subject_type = 'workflow' AND subject_id = $1 ORDER BY seq",
        [String(id)],
      );
    const { workflowId } = await createWorkflow.execute(input('audited'), BY);
    await updateWorkflow.execute('audited', input('audited'), BY);
    await expect(updateWorkflow.execute('audited', input('first'), BY)).rejects.toThrow(WorkflowExistsError);
    await deleteWorkflow.execute('audited', BY);
    expect(
      (await rows(workflowId)).map(({ action, actor, after }) => [action, actor.name, after?.version]),
    ).toEqual([
      ['workflow.created', 'tester', 1],
      ['workflow.updated', 'tester', 2],
      ['workflow.deleted', 'tester', undefined],
    ]);
  });
});
