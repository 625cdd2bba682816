import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dataOf, startBridge, type RunningBridge } from '../../support/bridge/running-bridge.js';
import { startStub, type StubServer } from '../../support/bridge/stub-server.js';

const FILE_TOOLS = ['list_files', 'read_file', 'write_file', 'update_todo'];

describe('the demo model', () => {
  let bridge: RunningBridge;
  beforeAll(async () => {
    bridge = await startBridge();
  });
  afterAll(() => bridge.close());

  it('plays its lines in order, with real tools', async () => {
    const prompt = [
      'Write something. @say is no directive here',
      '@think 先写',
      '@todo [{"content":"写","status":"in_progress"}]',
      '@call write_file {"path":"子/一.txt","content":"壹"}',
      '@call read_file {"path":"子/一.txt"}',
      '@say 得到 %LAST%',
      '@someone else',
    ].join('\r\n');
    const events = await bridge.run({ prompt, tools: FILE_TOOLS });
    expect(events.map(({ event }) => event)).toEqual([
      'thinking',
      'todo_update',
      'tool_call',
      'tool_result',
      'tool_call',
      'tool_result',
      'text',
      'usage',
      'result',
    ]);
    expect(dataOf(events, 'todo_update')).toEqual([{ todos: [{ content: '写', status: 'in_progress' }] }]);
    expect(dataOf(events, 'tool_result')[1]?.result).toEqual({ path: '子/一.txt', bytes: 3, content: '壹' });
    expect(dataOf(events, 'result')[0]?.text).toBe('得到 {"path":"子/一.txt","bytes":3,"content":"壹"}');
    expect(await readFile(join(bridge.workspace, '子/一.txt'), 'utf8')).toBe('壹');
  });

  it('pairs each tool call with its result, by id', async () => {
    const events = await bridge.run({
      prompt: '@call list_files {}\n@call list_files {}',
      tools: FILE_TOOLS,
    });
    const calls = dataOf(events, 'tool_call').map(({ call_id }) => call_id);
    expect(new Set(calls).size).toBe(2);
    expect(dataOf(events, 'tool_result').map(({ call_id }) => call_id)).toEqual(calls);
  });

  it('shows a failed tool call with its error and goes on', async () => {
    const prompt = '@call read_file {"path":"nothing.txt"}\n@call shell {}\n@say %LAST%';
    const events = await bridge.run({ prompt, tools: FILE_TOOLS });
    const [missing, unknown] = dataOf(events, 'tool_result');
    expect(missing).toMatchObject({ result: null, error: 'nothing.txt does not exist' });
    expect(unknown?.error).toMatch(/there is no tool shell/);
    expect(dataOf(events, 'result')[0]?.text).toContain('there is no tool shell');
  });

  it('answers with the last JSON object as data', async () => {
    const events = await bridge.run({ prompt: '@json {"score": 7, "tags": ["甲", "乙"]}' });
    expect(dataOf(events, 'result')).toEqual([
      {
        text: '{"score":7,"tags":["甲","乙"]}',
        data: { score: 7, tags: ['甲', '乙'] },
        finish_reason: 'stop',
      },
    ]);
  });

  it('puts the last result into JSON, as text and as value', async () => {
    const call = '@call list_files {}\n';
    const tools = ['list_files'];
    const [text] = dataOf(await bridge.run({ prompt: `${call}@json {"r": "got %LAST%"}`, tools }), 'result');
    const [value] = dataOf(await bridge.run({ prompt: `${call}@json {"r": %LAST%}`, tools }), 'result');
    expect(typeof text?.data?.['r']).toBe('string');
    expect(value?.data?.['r']).toHaveProperty('entries');
  });

  it('flakes on the first attempts only, retryably', async () => {
    const prompt = '@flake 2 not yet\n@say done';
    const ends = [];
    for (const attempt of [1, 2, 3]) ends.push((await bridge.run({ prompt, attempt })).at(-1));
    expect(ends).toEqual([
      { event: 'error', data: { code: 'provider_5xx', message: 'not yet', retryable: true } },
      { event: 'error', data: { code: 'provider_5xx', message: 'not yet', retryable: true } },
      { event: 'result', data: { text: 'done', data: null, finish_reason: 'stop' } },
    ]);
  });

  it.each([
    ['@json {"a":', /@json/],
    ['@call', /@call/],
    ['@call read_file {no}', /@call/],
    ['@sleep soon', /@sleep/],
    ['@sleep -1', /@sleep/],
    ['@flake x', /@flake/],
    ['@todo 5', /@todo/],
  ])('fails a line it cannot read: %s', async (prompt, message) => {
    const [error] = dataOf(await bridge.run({ prompt, tools: FILE_TOOLS }), 'error');
    expect(error).toMatchObject({ code: 'provider_bad_request', retryable: false });
    expect(error?.message).toMatch(message);
  });

  it('refuses text where a JSON object is asked for', async () => {
    const output_schema = { type: 'object' };
    const [error] = dataOf(await bridge.run({ prompt: '@say no JSON', output_schema }), 'error');
    const [result] = dataOf(await bridge.run({ prompt: '@json {"a":1}', output_schema }), 'result');
    expect(error?.code).toBe('provider_bad_response');
    expect(result?.data).toEqual({ a: 1 });
  });

  it('refuses further tool calls past the limit', async () => {
    const limited = await startBridge({ maxToolCalls: 3 });
    const prompt = Array.from({ length: 5 }, () => '@call list_files {}').join('\n');
    const events = await limited.run({ prompt, tools: ['list_files'] });
    const errors = dataOf(events, 'tool_result').map(({ error }) => error);
    await limited.close();
    expect(errors.slice(0, 3)).toEqual([null, null, null]);
    expect(errors.slice(3)).toEqual(Array(2).fill('refused: more than 3 tool calls in one visit'));
  });

  it('is refused where it is switched off', async () => {
    const production = await startBridge({ allowDemo: false });
    const events = await production.run({});
    await production.close();
    expect(events).toMatchObject([{ event: 'error', data: { code: 'runtime_unavailable' } }]);
  });

  describe('as planner', () => {
    const goal = 'Get it done\n@think first\n@plan a,b\n@plan c\n@fail out of plans\n@plan END';
    const plan = async (plan_index: number, prompt = goal): Promise<unknown> =>
      (await bridge.run({ node_id: 'planner', prompt, plan_index, output_schema: {} })).at(-1)?.data;

    it('answers one @plan line after the other', async () => {
      const data = (nodes: string[], finish: boolean): object => ({
        next: nodes.map((nodeId) => ({ nodeId, reason: '@plan' })),
        finish,
      });
      expect(await plan(0)).toMatchObject({ data: data(['a', 'b'], false) });
      expect(await plan(1)).toMatchObject({ data: data(['c'], false) });
      expect(await plan(2)).toMatchObject({ code: 'provider_run_failed', message: 'out of plans' });
      expect(await plan(3)).toMatchObject({ data: data([], true) });
      expect(await plan(0, 'No lines at all')).toMatchObject({ data: data([], true) });
    });

    it('can answer nonsense, to be asked again', async () => {
      expect(await plan(0, '@say nonsense')).toMatchObject({ code: 'provider_bad_response' });
      expect(await plan(0, '@json {"next": 5}')).toMatchObject({ data: { next: 5 } });
    });
  });

  describe('without lines', () => {
    let context: StubServer;
    const answers: Record<string, unknown> = {
      '/internal/context/path': {
        nodeIds: ['in', 'first', 'writer'],
        visitUuids: ['v1', 'v2', 'v3'],
        paths: [{ sequence: ['in', 'first', 'writer'], visitUuids: ['v1', 'v2', 'v3'], hasBacktrack: false }],
        backtrackEdgeKeys: [],
      },
      '/internal/context/output': {
        nodeId: 'first',
        iterSeq: 1,
        status: 200,
        data: { finding: '海水是咸的' },
      },
    };
    beforeAll(async () => {
      context = await startStub(({ path }, response) => {
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ code: 200, message: 'success', data: answers[path] }));
      });
    });
    afterAll(() => context.close());

    it('reads its predecessors, writes a report and answers with a digest', async () => {
      const context_query = {
        base_url: context.url,
        token: 'a'.repeat(48),
        run_id: 'run-1',
        visit_uuid: 'v3',
      };
      const events = await bridge.run({ prompt: 'Summarise', tools: ['write_file'], context_query });
      expect(dataOf(events, 'tool_call').map(({ tool }) => tool)).toEqual([
        'get_predecessor_paths',
        'get_node_output',
        'get_node_output',
        'write_file',
      ]);
      expect(await readFile(join(bridge.workspace, 'report.md'), 'utf8')).toContain('海水是咸的');
      expect(dataOf(events, 'result')[0]?.text).toMatch(/Demo model: read 2 predecessors.*\n.*海水是咸的/s);
    });

    it('only thinks and answers when it has no tools', async () => {
      const events = await bridge.run({ prompt: 'Summarise' });
      expect(events.map(({ event }) => event)).toEqual(['thinking', 'text', 'usage', 'result']);
    });
  });
});
