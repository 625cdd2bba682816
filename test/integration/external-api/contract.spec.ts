import { ApiApp } from '../../support/external-api/api-app.js';
import { ApiClient, list, multipart, text, type Answer } from '../../support/external-api/api-client.js';
import { readZip } from '../../support/external-api/read-zip.js';
import { says, thinks } from '../../support/engine/scripted-runtime.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import type { WorkflowDefinition } from '../../../src/workflows/index.js';
import { agent, chain, input, output } from '../engine/graphs.js';

/** external-workflow-api.md, row by row and example by example. */
describe('the external workflow API as specified', () => {
  let database: TestDatabase;
  let api: ApiApp;
  let client: ApiClient;
  let workflow: WorkflowDefinition;

  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiApp.start(database);
    client = new ApiClient(api.url);
    workflow = await api.test.workflow(
      chain(
        input({ name: 'topic', type: 'string', required: true, label: '主题' }),
        agent('node-2', { label: '研究助手' }),
        output({ summary: '{{ node-2.text }}', research: '{{ node-2.research }}' }),
      ),
      { name: 'military-analyze-agent' },
    );
    await database.dataSource.query(
      `UPDATE workflows SET display_name = '"军事分析助手"', description = '"分析"' WHERE name = $1`,
      [workflow.name],
    );
    api.test.runtime.on('node-2', () => [
      thinks('首先我需要搜索相关资料...'),
      { type: 'runtime.tool_call', callId: 'c1', tool: 'read_file', args: { path: 'report.md' } },
      { type: 'runtime.tool_result', callId: 'c1', tool: 'read_file', result: { content: '…' }, error: null },
      says('本报告探讨了...', { research: '...' }),
    ]);
  });
  afterAll(async () => {
    await api.close();
    await database.close();
  });

  const runs = '/workflows/military-analyze-agent/runs';
  const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/) as string;
  const runId = expect.stringMatching(/^[a-z0-9_-]{16,}$/) as string;

  const create = (body: unknown = { variables: { topic: '企业' } }): Promise<Answer> =>
    client.post(runs, body);
  const links = (id: string) => ({
    start: `/api/v1${runs}/${id}/start`,
    stream: `/api/v1${runs}/${id}/stream`,
    result: `/api/v1${runs}/${id}`,
    workspace: `/api/v1${runs}/${id}/workspace`,
  });
  const finished = async (answer: Answer) => {
    const id = text(answer.data.runId);
    await client.post(text(answer.data.links?.start));
    const { events } = await client.stream(text(answer.data.links?.stream));
    return { id, events, result: await client.call(text(answer.data.links?.result)) };
  };

  it('GET /workflows', async () => {
    const { status, code, message, data } = await client.call('/workflows?page=1&size=10&keyword=x');
    expect([status, code, message]).toEqual([200, 'OK', '']);
    expect(data).toEqual([
      {
        id: workflow.workflowId,
        name: 'military-analyze-agent',
        displayName: '军事分析助手',
        description: '分析',
        version: 1,
        inputs: [expect.objectContaining({ name: 'topic', type: 'string', required: true, label: '主题' })],
        outputs: [
          expect.objectContaining({ name: 'summary' }),
          expect.objectContaining({ name: 'research' }),
        ],
      },
    ]);
  });

  it('GET /workflows/{workflowName}, by name and by id', async () => {
    const byName = await client.call('/workflows/military-analyze-agent');
    const byId = await client.call(`/workflows/${workflow.workflowId}`);
    expect(byName.data.name).toBe('military-analyze-agent');
    expect(byId.text).toBe(byName.text);
  });

  it('POST /runs with JSON', async () => {
    const answer = await create({
      variables: {
        topic: '大语言模型在企业中的应用',
        maxTokens: 2048,
        options: { lang: 'zh', verbose: false },
      },
      async: true,
      failStrategy: 'abort',
      ttlHours: 720,
    });
    expect(answer.status).toBe(201);
    expect(answer.data).toEqual({
      runId,
      workflowId: workflow.workflowId,
      workflowName: 'military-analyze-agent',
      displayName: '军事分析助手',
      status: 'CREATED',
      createdAt: iso,
      links: links(text(answer.data.runId)),
    });
    expect(answer.headers.get('location')).toBe(answer.data.links?.result);
  });

  it('POST /runs with multipart', async () => {
    const answer = await client.call(runs, {
      method: 'POST',
      ...multipart([
        { name: 'payload', body: '{"variables":{"topic":"汇总报告"},"async":true}' },
        { name: 'files', filename: 'report.md', body: '# 报告' },
        { name: 'files', filename: 'inputs/2024/data.csv', body: 'a,b' },
      ]),
    });
    expect([answer.status, answer.data.status]).toEqual([201, 'CREATED']);
    const zip = await client.fetch(text(answer.data.links?.workspace));
    const entries = await readZip(Buffer.from(await zip.arrayBuffer()));
    expect(entries.map(({ name }) => name)).toEqual(['inputs/2024/data.csv', 'report.md']);
  });

  it('POST /runs by id; links always carry the name', async () => {
    const answer = await client.post(`/workflows/${workflow.workflowId}/runs`, { variables: { topic: 'x' } });
    expect(answer.data.links).toEqual(links(text(answer.data.runId)));
  });

  it('POST /start', async () => {
    const { data } = await create();
    const answer = await client.post(text(data.links?.start));
    expect(answer.status).toBe(200);
    expect(answer.data).toEqual({
      runId: data.runId,
      status: 'RUNNING',
      startedAt: iso,
      links: links(text(data.runId)),
    });
    const again = await client.post(text(data.links?.start));
    expect([again.status, again.code]).toEqual([409, 'RUN_ALREADY_STARTED']);
  });

  it('GET /stream', async () => {
    const { id, events } = await finished(await create());
    expect(events.map((event) => event.id)).toEqual(events.map((_, at) => at + 1));
    for (const { event, data } of events) {
      expect(data).toMatchObject({ runId: id, type: event, timestamp: iso });
    }
    expect(events[0]?.event).toBe('run_started');
    expect(events.find(({ data }) => (data.kind as unknown) === 'thinking')?.data).toMatchObject({
      runId: id,
      type: 'node_stream',
      nodeId: 'node-2',
      nodeType: 'agent',
      label: '研究助手',
      status: 'RUNNING',
      kind: 'thinking',
      content: '首先我需要搜索相关资料...',
      toolName: null,
      timestamp: iso,
    });
    expect(events.find(({ data }) => (data.kind as unknown) === 'tool_call')?.data).toMatchObject({
      toolName: 'read_file',
      content: '{"path":"report.md"}',
    });
    expect(events.find(({ data }) => (data.kind as unknown) === 'tool_result')?.data).toMatchObject({
      toolName: 'read_file',
      content: '{"content":"…"}',
    });
    const last = events.at(-1);
    expect(last?.event).toBe('workflow_complete');
    expect(last?.data).toMatchObject({ resultUrl: links(id).result, workspaceUrl: links(id).workspace });
  });

  it('GET /runs/{runId}', async () => {
    const { id, events, result } = await finished(await create());
    expect(result.data).toMatchObject({
      runId: id,
      workflowId: workflow.workflowId,
      workflowName: 'military-analyze-agent',
      displayName: '军事分析助手',
      status: 'SUCCESS',
      startedAt: iso,
      completedAt: iso,
      error: null,
      outputs: { summary: '本报告探讨了...', research: '...', _workingDirFiles: [], _runId: id },
      workspace: { fileCount: 0, totalBytes: 0, downloadUrl: links(id).workspace },
    });
    expect(result.data.outputs).toEqual(events.at(-1)?.data.outputs);
    const nodes = list(result.data.nodes);
    expect(nodes.map(({ nodeId }) => nodeId)).toEqual(['in', 'node-2', 'out']);
    expect(nodes[1]).toMatchObject({
      nodeId: 'node-2',
      nodeType: 'agent',
      label: '研究助手',
      status: 'SUCCESS',
      output: { text: '本报告探讨了...', research: '...' },
      error: null,
      logsCount: 3,
      logsUrl: `${links(id).result}/nodes/node-2/logs`,
      visits: [{ visitUuid: expect.any(String) as string, iterSeq: 1, status: 'SUCCESS' }],
    });
  });

  it('GET /runs/{runId} of a run that has not begun: every node is PENDING', async () => {
    const { data } = await create();
    const result = await client.call(text(data.links?.result));
    expect(result.status).toBe(200);
    expect(result.data).toMatchObject({
      status: 'CREATED',
      startedAt: null,
      completedAt: null,
      outputs: null,
    });
    for (const node of list(result.data.nodes)) {
      expect(node).toMatchObject({ status: 'PENDING', output: null, error: null, logsCount: 0, visits: [] });
    }
  });

  it('GET /nodes/{nodeId}/logs', async () => {
    const { result } = await finished(await create());
    const answer = await client.call(text(list(result.data.nodes)[1]?.logsUrl));
    const items = list(answer.data.items);
    expect(answer.data.nextAfter).toBeNull();
    expect(items).toHaveLength(3);
    expect(items[0]).toEqual({
      seq: expect.any(Number) as number,
      type: 'THINKING',
      timestamp: iso,
      message: '首先我需要搜索相关资料...',
      detail: null,
      visitUuid: expect.any(String) as string,
      iterSeq: 1,
    });
    expect(items.map(({ type, message }) => [type, message])).toEqual([
      ['THINKING', '首先我需要搜索相关资料...'],
      ['TOOL_CALL', 'read_file'],
      ['TOOL_RESULT', 'read_file'],
    ]);
  });

  it('logs in pages, by type and by visit', async () => {
    const { result } = await finished(await create());
    const url = text(list(result.data.nodes)[1]?.logsUrl);
    const first = await client.call(`${url}?limit=2`);
    const rest = await client.call(`${url}?limit=2&after=${JSON.stringify(first.data.nextAfter)}`);
    expect([list(first.data.items).length, list(rest.data.items).length, rest.data.nextAfter]).toEqual([
      2,
      1,
      null,
    ]);
    const calls = await client.call(`${url}?type=TOOL_CALL`);
    expect(list(calls.data.items).map(({ type }) => type)).toEqual(['TOOL_CALL']);
    const visit = text(list(first.data.items)[0]?.visitUuid);
    expect(list((await client.call(`${url}?visit=${visit}`)).data.items)).toHaveLength(3);
    const other = '00000000-0000-4000-8000-000000000000';
    expect(list((await client.call(`${url}?visit=${other}`)).data.items)).toHaveLength(0);
  });

  it('GET /workspace', async () => {
    const { id } = await finished(await create());
    const answer = await client.fetch(links(id).workspace);
    expect(answer.headers.get('content-type')).toBe('application/zip');
    const disposition = answer.headers.get('content-disposition') ?? '';
    expect(disposition).toContain(`filename="military-analyze-agent-${id}.zip"`);
    expect(decodeURIComponent(/filename\*=UTF-8''(.+)$/.exec(disposition)?.[1] ?? '')).toBe(
      `军事分析助手-${id}.zip`,
    );
    expect(await readZip(Buffer.from(await answer.arrayBuffer()))).toEqual([]);
  });

  it('async: false answers with the stream, and names its run', async () => {
    const body = { variables: { topic: '直接' }, async: false };
    const { answer, events } = await client.stream(runs, { method: 'POST', body });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const id = answer.headers.get('x-run-id');
    expect(answer.headers.get('location')).toBe(links(String(id)).result);
    expect([events[0]?.data.runId, events.at(-1)?.event]).toEqual([id, 'workflow_complete']);
  });
});
