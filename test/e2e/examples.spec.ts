import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TestServer } from '../support/test-server.js';

type Json = Record<string, unknown>;

const EXAMPLES = path.resolve(import.meta.dirname, '../../examples');
let database: TestDatabase;
let server: TestServer;

beforeAll(async () => {
  database = await createTestDatabase();
  server = await TestServer.start({
    databaseUrl: database.url,
    environment: { NODE_ENV: 'development' },
  });
});
afterAll(async () => {
  await server.stop();
  await database.close();
});

async function data(answer: Promise<Response>): Promise<Json> {
  const response = await answer;
  const body = (await response.json()) as { data: Json; message: string };
  if (!response.ok) throw new Error(`${response.status} ${body.message}`);
  return body.data;
}

async function install(name: string): Promise<void> {
  const document: unknown = JSON.parse(readFileSync(path.join(EXAMPLES, `${name}.json`), 'utf8'));
  await data(server.request('POST', '/admin/v1/workflows/import', document));
}

/** Reads the stream until it satisfies `until` or ends; gives the events' names and payloads. */
async function follow(runPath: string, until: (event: Json) => boolean = () => false): Promise<Json[]> {
  const response = await fetch(`${server.url}${runPath}/stream`, {
    headers: { 'X-API-Key': 'demo-key', Accept: 'text/event-stream' },
  });
  if (!response.body) throw new Error('no stream');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const events: Json[] = [];
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return events;
    text += decoder.decode(value, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const line = block.split('\n').find((one) => one.startsWith('data:'));
      if (line) events.push(JSON.parse(line.slice(5)) as Json);
    }
    if (events.some(until)) {
      await reader.cancel();
      return events;
    }
  }
}

async function run(name: string, create: () => Promise<Response>, until?: (event: Json) => boolean) {
  const { runId } = await data(create());
  const runPath = `/api/v1/workflows/${name}/runs/${String(runId)}`;
  await data(server.request('POST', `${runPath}/start`));
  const events = await follow(runPath, until);
  return { runPath, events, result: () => data(server.request('GET', runPath)) };
}

const start = (name: string, variables: Json) => () =>
  server.request('POST', `/api/v1/workflows/${name}/runs`, { variables });
const statusOf = (result: Json, nodeId: string) =>
  (result.nodes as { nodeId: string; status: string }[]).find((node) => node.nodeId === nodeId)?.status;

describe('examples on the running server', () => {
  it('report-pipeline reads the document, asks the nodes before, and leaves report.md', async () => {
    await install('report-pipeline');
    const upload = (variables: Json) => () => {
      const form = new FormData();
      form.set('payload', JSON.stringify({ variables }));
      form.set('files', new Blob(['# 大语言模型在企业中的应用\n\n第一段：落地的三个条件。\n']), '原文.md');
      return fetch(`${server.url}/api/v1/workflows/report-pipeline/runs`, {
        method: 'POST',
        headers: { 'X-API-Key': 'demo-key' },
        body: form,
      });
    };
    const { events, result } = await run(
      'report-pipeline',
      upload({ topic: '大语言模型', document: '原文.md' }),
    );
    const ended = await result();
    expect(ended).toMatchObject({ status: 'SUCCESS', error: null });
    expect(ended.outputs).toMatchObject({ confidence: 0.82, risks: ['数据质量', '算力成本'] });
    expect((ended.outputs as Json).summary).toContain('report.md');
    expect((ended.outputs as Json)._workingDirFiles).toEqual(['report.md', '原文.md'].sort());
    expect(statusOf(ended, 'shortfall')).toBe('SKIPPED');
    const tools = events.filter(({ kind }) => kind === 'tool_call').map(({ toolName }) => toolName);
    for (const tool of [
      'list_files',
      'read_file',
      'get_predecessor_paths',
      'get_node_output',
      'write_file',
    ]) {
      expect(tools).toContain(tool);
    }
    expect(JSON.stringify(events.filter(({ kind }) => kind === 'tool_result'))).toContain('落地的三个条件');

    const short = await run(
      'report-pipeline',
      upload({ topic: '大语言模型', document: '原文.md', minConfidence: 0.9 }),
    );
    const other = await short.result();
    expect([statusOf(other, 'write'), statusOf(other, 'shortfall')]).toEqual(['SKIPPED', 'SUCCESS']);
    expect((other.outputs as Json).summary).toBe(
      '关于“大语言模型”的材料不足：置信度 0.82 低于 0.9，没有写报告。',
    );
  });

  it('revision-loop goes round until it has its drafts', async () => {
    await install('revision-loop');
    const { result } = await run('revision-loop', start('revision-loop', { topic: '量子', rounds: 4 }));
    expect(await result()).toMatchObject({
      status: 'SUCCESS',
      outputs: { text: '“量子”第 4 稿', rounds: 4 },
    });
  });

  it('planned-research follows the plan, flights back included', async () => {
    await install('planned-research');
    const { result } = await run('planned-research', start('planned-research', { topic: '量子' }));
    const ended = await result();
    expect(ended).toMatchObject({ status: 'SUCCESS', outputs: { hits: 5 } });
    const papers = (ended.nodes as { nodeId: string; visits: unknown[] }[]).find(
      ({ nodeId }) => nodeId === 'papers',
    );
    expect(papers?.visits).toHaveLength(2);
  });

  it('batch-summary goes through the list and waits for a person', async () => {
    await install('batch-summary');
    const waits = (event: Json) => event.nodeId === 'confirm' && event.status === 'WAITING';
    const { runPath, result } = await run(
      'batch-summary',
      start('batch-summary', { topics: ['甲', '乙'] }),
      waits,
    );
    expect(await result()).toMatchObject({ status: 'RUNNING', waiting: [{ nodeId: 'confirm' }] });
    await data(server.request('POST', `${runPath}/nodes/confirm/input`, { approved: true }));
    await follow(runPath);
    expect(await result()).toMatchObject({
      status: 'SUCCESS',
      outputs: { text: '1. 甲：摘要\n2. 乙：摘要\n', approved: true, remark: null },
    });
  });
});
