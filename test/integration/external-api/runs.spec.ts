import fc from 'fast-check';
import type { WorkflowDefinition } from '../../../src/workflows/index.js';
import { ApiApp } from '../../support/external-api/api-app.js';
import { ApiClient, list, multipart, text, type Answer } from '../../support/external-api/api-client.js';
import { fails, says, thinks, untilAborted } from '../../support/engine/scripted-runtime.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, chain, input, node, output } from '../engine/graphs.js';

describe('runs', () => {
  let database: TestDatabase;
  let api: ApiApp;
  /** A second server on the same database and data folder. */
  let other: ApiApp;
  let client: ApiClient;
  let workflow: WorkflowDefinition;
  let runs: string;

  beforeAll(async () => {
    database = await createTestDatabase({ poolSize: 8 });
    api = await ApiApp.start(database, { owner: 'one' });
    other = await ApiApp.start(database, { owner: 'two', dataDir: api.dataDir });
    client = new ApiClient(api.url);
    workflow = await api.test.workflow(
      chain(input(), agent('first'), agent('second'), output({ text: '{{ second.text }}' })),
    );
    runs = `/workflows/${workflow.name}/runs`;
  });
  afterAll(async () => {
    await other.close();
    await api.close();
    await database.close();
  });
  beforeEach(() => api.test.runtime.scripts.clear());

  const create = async (path = runs, body: unknown = {}): Promise<Answer['data']> =>
    (await client.post(path, body)).data;
  const link = (run: Answer['data'], name: string): string => text(run.links?.[name]);
  const finish = async (run: Answer['data']): Promise<Answer['data']> => {
    await client.post(link(run, 'start'));
    await client.stream(link(run, 'stream'));
    return (await client.call(link(run, 'result'))).data;
  };

  describe('creation', () => {
    it('keeps unknown keys out and takes null for absent', async () => {
      const body = {
        variables: null,
        async: null,
        failStrategy: null,
        ttlHours: null,
        callbackUrl: null,
        extra: 1,
      };
      expect((await client.post(runs, body)).status).toBe(201);
      expect((await client.call(runs, { method: 'POST' })).status).toBe(201);
    });

    it.each<[unknown, string]>([
      [{ variables: [] }, 'variables'],
      [{ variables: 'x' }, 'variables'],
      [{ async: 'yes' }, 'async'],
      [{ failStrategy: 'retry' }, 'failStrategy'],
      [{ ttlHours: 0 }, 'ttlHours'],
      [{ ttlHours: 8761 }, 'ttlHours'],
      [{ ttlHours: 1.5 }, 'ttlHours'],
      [{ ttlHours: '720' }, 'ttlHours'],
      [{ callbackUrl: 5 }, 'callbackUrl'],
    ])('refuses %j, naming the field', async (body, field) => {
      const answer = await client.post(runs, body);
      expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_FAILED']);
      expect(answer.message).toContain(field);
    });

    it('names every wrong variable', async () => {
      const typed = await api.test.workflow(
        chain(
          input(
            { name: 'topic', type: 'string', required: true },
            { name: 'count', type: 'integer' },
            { name: 'flag', type: 'boolean' },
          ),
          output({ count: '{{ in.count }}' }),
        ),
      );
      const answer = await client.post(`/workflows/${typed.name}/runs`, {
        variables: { count: 'x', flag: 1 },
      });
      expect(answer.status).toBe(400);
      const { details } = JSON.parse(answer.text) as { details: { field: string }[] };
      expect(details.map(({ field }) => field).sort()).toEqual([
        'variables.count',
        'variables.flag',
        'variables.topic',
      ]);
    });

    it('keeps the order of all keys from the variables to every answer', async () => {
      const passing = await api.test.workflow(
        chain(
          input(),
          node('code', 'code', {
            code: 'return { n: inputs.years["2023"] }',
            inputs: { years: '{{ in.years }}' },
          }),
          output({ years: '{{ in.years }}', text: '{{ in.years }}', mixed: { b: '{{ in.years.2023 }}' } }),
        ),
      );
      const path = `/workflows/${passing.name}/runs`;
      const years = '{"2024":[{"9":true,"a":2,"8":null}],"2023":5,"z":"字"}';
      const created = await client.post(path, `{"variables":{"zeta":1,"2":"b","years":${years},"1":"a"}}`, {
        headers: { 'content-type': 'application/json' },
      });
      const run = await finish(created.data);
      expect(run.status).toBe('SUCCESS');
      const result = (await client.call(link(created.data, 'result'))).text;
      expect(result).toContain(`"outputs":{"years":${years},"text":${years},"mixed":{"b":5},`);
      expect(result).toContain(`"output":{"zeta":1,"2":"b","years":${years},"1":"a"}`);
      expect(result).toContain('"output":{"n":5}');
      const stored = await api.test.runs.find(text(created.data.runId));
      expect(JSON.stringify(stored?.variables)).toBe(`{"zeta":1,"2":"b","years":${years},"1":"a"}`);
      const again = await client.post(`${link(created.data, 'result')}/rerun`, { fromNodeId: 'out' });
      await finish(again.data);
      const rerun = (await client.call(link(again.data, 'result'))).text;
      expect(rerun).toContain(`"outputs":{"years":${years},`);
      expect(rerun).toContain(`"output":{"zeta":1,"2":"b","years":${years},"1":"a"}`);
    });

    it.each(['9007199254740993.0', '9007199254740993e0', '1.0000000000000001e16', '-1e400'])(
      'refuses %s, naming its field',
      async (number) => {
        const path = `/workflows/${workflow.name}/runs`;
        const headers = { 'content-type': 'application/json' };
        const refused = await client.post(path, `{"variables":{"list":[1,{"n":${number}}]}}`, { headers });
        expect([refused.status, refused.code]).toEqual([400, 'VALIDATION_FAILED']);
        expect(refused.message).toMatch(/^variables\.list\.1\.n: the (integer|number) /);
        expect(refused.message).toContain(number);
      },
    );

    it('refuses an integer that would be rounded, and keeps one that would not', async () => {
      const typed = await api.test.workflow(
        chain(input({ name: 'n', type: 'integer' }), output({ n: '{{ in.n }}' })),
      );
      const path = `/workflows/${typed.name}/runs`;
      const rounded = await client.post(path, '{"variables":{"n":1234567890123456789}}', {
        headers: { 'content-type': 'application/json' },
      });
      expect([rounded.status, rounded.code]).toEqual([400, 'VALIDATION_FAILED']);
      expect(rounded.message).toContain('1234567890123456789');
      const run = await finish(await create(path, { variables: { n: 9007199254740991 } }));
      expect(run.outputs?.n).toBe(9007199254740991);
    });
  });

  describe('idempotency', () => {
    const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

    it('answers a repeat with the first answer, byte for byte', async () => {
      const first = await client.post(runs, { ttlHours: 5, variables: { a: 1, b: 2 } }, keyed('one'));
      const again = await client.post(runs, { variables: { b: 2, a: 1 }, ttlHours: 5 }, keyed('one'));
      expect([first.status, again.status]).toEqual([201, 201]);
      expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
        null,
        'true',
      ]);
      expect(again.text).toBe(first.text);
    });

    it('refuses another body, and leaves the first run alone', async () => {
      await client.post(runs, { ttlHours: 5 }, keyed('two'));
      const answer = await client.post(runs, { ttlHours: 6 }, keyed('two'));
      expect([answer.status, answer.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
    });

    it('compares multipart by content', async () => {
      const parts = [
        { name: 'payload', body: '{"ttlHours":5}' },
        { name: 'files', filename: 'a.txt', body: 'A' },
        { name: 'files', filename: 'b.txt', body: 'B' },
      ];
      const send = (body: ReturnType<typeof multipart>) =>
        client.call(runs, {
          method: 'POST',
          body: body.body,
          headers: { ...body.headers, 'idempotency-key': 'three' },
        });
      const first = await send(multipart(parts));
      const again = await send(multipart([...parts].reverse()));
      expect(again.text).toBe(first.text);
      const changed = await send(
        multipart([...parts.slice(0, 2), { name: 'files', filename: 'b.txt', body: 'C' }]),
      );
      expect([changed.status, changed.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
    });

    it('is scoped to the workflow, and ends after 24 hours', async () => {
      const second = await api.test.workflow(chain(input(), output({ a: 'b' })));
      const first = await client.post(runs, {}, keyed('four'));
      const elsewhere = await client.post(`/workflows/${second.name}/runs`, {}, keyed('four'));
      expect(elsewhere.data.runId).not.toBe(first.data.runId);
      await database.dataSource.query(
        `UPDATE idempotency_keys SET created_at = created_at - interval '24 hours 1 second' WHERE key = 'four'`,
      );
      const later = await client.post(runs, { ttlHours: 9 }, keyed('four'));
      expect([later.status, later.headers.get('idempotency-replayed')]).toEqual([201, null]);
      expect(later.data.runId).not.toBe(first.data.runId);
    });

    it.each(['', 'x'.repeat(256), 'é'])('refuses the key %j', async (key) => {
      const answer = await client.post(runs, {}, keyed(key));
      expect([answer.status, answer.code]).toEqual([400, 'VALIDATION_FAILED']);
    });

    it('makes one run of many requests at the same instant, in two servers', async () => {
      const clients = [client, new ApiClient(other.url)] as const;
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          clients[at % 2 === 0 ? 0 : 1].post(runs, { ttlHours: 7 }, keyed('race')),
        ),
      );
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
      expect(answers.filter((answer) => answer.headers.get('idempotency-replayed') === null)).toHaveLength(1);
      const rows = await database.dataSource.query<unknown[]>(`SELECT 1 FROM runs WHERE ttl_hours = 7`);
      expect(rows).toHaveLength(1);
    });

    it('joins the run of the first request with async: false', async () => {
      const options = { method: 'POST', body: { async: false, ttlHours: 8 }, ...keyed('sync') };
      const first = await client.stream(runs, options);
      const again = await client.stream(runs, options);
      expect(again.answer.headers.get('idempotency-replayed')).toBe('true');
      expect(again.events).toEqual(first.events);
    });
  });

  it('starts once, however many ask at the same instant in two servers', async () => {
    const run = await create();
    const clients = [client, new ApiClient(other.url)] as const;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, at) => clients[at % 2 === 0 ? 0 : 1].post(link(run, 'start'))),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array<number>(9).fill(409)]);
    const { events } = await client.stream(link(run, 'stream'));
    expect(events.filter(({ event }) => event === 'run_started')).toHaveLength(1);
  });

  describe('cancel', () => {
    it('lets no node start after it has answered, aborts what runs, and ends once', async () => {
      let aborted = false;
      const before = api.test.runtime.callsOf('second');
      api.test.runtime.on('first', async (_, signal) => {
        const events = await untilAborted(signal);
        aborted = true;
        return events;
      });
      const run = await create();
      await client.post(link(run, 'start'));
      await api.test.untilBegun(text(run.runId), 'first');
      const answer = await client.post(`${link(run, 'result')}/cancel`);
      expect(answer.status).toBe(200);
      expect(answer.data).toMatchObject({ status: 'FAILED', statusReason: 'CANCELLED' });
      expect(aborted).toBe(true);
      const statuses: unknown = Object.fromEntries(
        list(answer.data.nodes).map(({ nodeId, status }) => [nodeId, status]),
      );
      expect(statuses).toEqual({ in: 'SUCCESS', first: 'FAILED', second: 'SKIPPED', out: 'SKIPPED' });
      const { events } = await client.stream(link(run, 'stream'));
      expect(events.filter(({ event }) => event.startsWith('workflow_'))).toHaveLength(1);
      expect(events.at(-1)?.data).toMatchObject({ type: 'workflow_error', statusReason: 'CANCELLED' });
      expect(api.test.runtime.callsOf('second')).toBe(before);
      const again = await client.post(`${link(run, 'result')}/cancel`);
      expect([again.status, again.code]).toEqual([409, 'RUN_NOT_ACTIVE']);
      const started = await client.post(link(run, 'start'));
      expect([started.status, started.code]).toEqual([409, 'RUN_ALREADY_STARTED']);
    });

    it('cancels a run that another server executes', async () => {
      api.test.runtime.on('first', (_, signal) => untilAborted(signal));
      const run = await create();
      await client.post(link(run, 'start'));
      await api.test.untilBegun(text(run.runId), 'first');
      const answer = await new ApiClient(other.url).post(`${link(run, 'result')}/cancel`);
      expect([answer.status, answer.data.statusReason]).toEqual([200, 'CANCELLED']);
      const { events } = await client.stream(link(run, 'stream'));
      expect(events.at(-1)?.event).toBe('workflow_error');
    });

    it('cancels a run that was never started', async () => {
      const run = await create();
      const reading = client.stream(link(run, 'stream'));
      expect((await client.post(`${link(run, 'result')}/cancel`)).status).toBe(200);
      const { events } = await reading;
      expect(events.map(({ event }) => event).filter((event) => event === 'workflow_error')).toHaveLength(1);
    });
  });

  it('applies the request’s failStrategy to nodes that set none', async () => {
    const branch = await api.test.workflow(
      chain(input(), agent('first'), agent('second'), output({ text: '{{ second.text }}' })),
    );
    api.test.runtime.on('first', () => [fails('坏了')]);
    const path = `/workflows/${branch.name}/runs`;
    expect(await finish(await create(path, {}))).toMatchObject({
      status: 'FAILED',
      statusReason: 'NODE_FAILED',
    });
    expect(await finish(await create(path, { failStrategy: 'skip' }))).toMatchObject({
      status: 'SUCCESS',
      nodes: [
        {},
        { nodeId: 'first', status: 'FAILED', error: '坏了', output: null },
        { status: 'SUCCESS' },
        {},
      ],
    });
  });

  it('lets a node’s own failStrategy win over the request’s', async () => {
    const strict = await api.test.workflow(
      chain(input(), agent('first', { failStrategy: 'abort' }), output({ text: '{{ first.text }}' })),
    );
    api.test.runtime.on('first', () => [fails('坏了')]);
    const run = await finish(await create(`/workflows/${strict.name}/runs`, { failStrategy: 'skip' }));
    expect(run).toMatchObject({ status: 'FAILED', statusReason: 'NODE_FAILED' });
  });

  it('tells which node failed and why, in the run and in the node', async () => {
    api.test.runtime.on('first', () => [thinks('不好'), fails('模型坏了')]);
    const run = await finish(await create());
    expect(run).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining('模型坏了') as string,
      errorDetail: {
        nodeId: 'first',
        code: expect.any(String) as string,
        visitUuid: expect.any(String) as string,
      },
    });
    const [, first, second] = list(run.nodes);
    expect(first).toMatchObject({ status: 'FAILED', error: '模型坏了', logsCount: 2 });
    expect(second).toMatchObject({ status: 'SKIPPED', skippedBecause: ['first'], visits: [] });
  });

  it('runs again from a node, reusing what came before', async () => {
    let calls = 0;
    api.test.runtime.on('first', () => [says(`first ${(calls += 1)}`)]);
    api.test.runtime.on('second', () => [fails('later')]);
    const original = await create();
    await finish(original);
    api.test.runtime.on('second', () => [says('now')]);
    const answer = await client.post(`${link(original, 'result')}/rerun`, { fromNodeId: 'second' });
    expect(answer.status).toBe(201);
    expect(answer.data).toMatchObject({
      status: 'CREATED',
      rerunOf: original.runId,
      workflowName: workflow.name,
    });
    const result = await finish(answer.data);
    expect(result).toMatchObject({ status: 'SUCCESS', rerunOf: original.runId, outputs: { text: 'now' } });
    expect(calls).toBe(1);
    const unknown = await client.post(`${link(original, 'result')}/rerun`, { fromNodeId: 'nope' });
    expect([unknown.status, unknown.code]).toEqual([404, 'NODE_NOT_FOUND']);
    const running = await client.post(`${link(await create(), 'result')}/rerun`);
    expect([running.status, running.code]).toEqual([409, 'RUN_NOT_ACTIVE']);
  });

  it('takes the input that a run waits for', async () => {
    const asking = await api.test.workflow(
      chain(
        input(),
        node('ask', 'humanInput', {
          fields: [{ name: 'ok', type: 'boolean', required: true }],
          message: '?',
        }),
        output({ ok: '{{ ask.ok }}' }),
      ),
    );
    const run = await create(`/workflows/${asking.name}/runs`);
    const detailsOf = ({ text: body }: Answer) => (JSON.parse(body) as { details: unknown }).details;
    const inputOf = (nodeId: string) => `${link(run, 'result')}/nodes/${nodeId}/input`;
    const early = await client.post(inputOf('ask'), { values: { ok: true } });
    expect([early.status, early.code]).toEqual([409, 'RUN_NOT_ACTIVE']);
    await client.post(link(run, 'start'));
    let waiting: Answer['data'][] = [];
    while (waiting.length === 0) waiting = list((await client.call(link(run, 'result'))).data.waiting);
    expect(waiting[0]).toMatchObject({
      nodeId: 'ask',
      visitUuid: expect.any(String) as string,
      fields: [{ name: 'ok', type: 'boolean' }],
      since: expect.any(String) as string,
    });
    const wrong = await client.post(inputOf('ask'), { values: { ok: 'yes' } });
    expect([wrong.status, wrong.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(detailsOf(wrong)).toEqual([{ field: 'values.ok', message: 'must be true or false' }]);
    const bare = await client.post(inputOf('ask'), { ok: 'yes' });
    expect([bare.status, bare.message]).toEqual([400, 'ok: must be true or false']);
    expect(detailsOf(bare)).toEqual([{ field: 'ok', message: 'must be true or false' }]);
    for (const body of [{}, { values: 5 }, { value: { ok: true } }]) {
      const missing = await client.post(inputOf('ask'), body);
      expect([missing.status, detailsOf(missing)]).toEqual([400, [{ field: 'ok', message: 'is required' }]]);
    }
    expect((await client.post(inputOf('nope'), { values: {} })).code).toBe('NODE_NOT_FOUND');
    expect((await client.post(inputOf('ask'), { values: { ok: true } })).status).toBe(200);
    await client.stream(link(run, 'stream'));
    const { data } = await client.call(link(run, 'result'));
    expect(data).toMatchObject({ status: 'SUCCESS', outputs: { ok: true }, waiting: [] });
  });

  describe('the list', () => {
    it('is newest first, filtered, and refuses what it does not understand', async () => {
      const own = await api.test.workflow(chain(input(), output({ a: 'b' })));
      const path = `/workflows/${own.name}/runs`;
      const made = [await create(path), await create(path), await create(path)];
      await finish(made[1] ?? {});
      const all = await client.call(path);
      expect(list(all.data.items).map(({ runId }) => runId)).toEqual(
        made.map(({ runId }) => runId).reverse(),
      );
      expect(all.data.nextCursor).toBeNull();
      expect(list(all.data.items)[1]).toEqual({
        runId: made[1]?.runId,
        status: 'SUCCESS',
        statusReason: null,
        createdAt: expect.any(String) as string,
        startedAt: expect.any(String) as string,
        completedAt: expect.any(String) as string,
      });
      const succeeded = await client.call(`${path}?status=SUCCESS`);
      expect(list(succeeded.data.items).map(({ runId }) => runId)).toEqual([made[1]?.runId]);
      for (const query of [
        'status=DONE',
        'limit=0',
        'limit=101',
        'limit=x',
        'cursor=x',
        'cursor=e30',
        'limit=1&limit=2',
      ]) {
        const answer = await client.call(`${path}?${query}`);
        expect([query, answer.status, answer.code]).toEqual([query, 400, 'VALIDATION_FAILED']);
      }
    });

    it('shows each run once while runs are inserted', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 0, max: 12 }),
          fc.integer({ min: 1, max: 5 }),
          fc.array(fc.nat(3), { maxLength: 8 }),
          async (before, limit, between) => {
            const own = await api.test.workflow(chain(input(), output({ a: 'b' })));
            const path = `/workflows/${own.name}/runs`;
            // At the same instant, so that only the id tells them apart.
            const made = await Promise.all(Array.from({ length: before }, () => create(path)));
            const seen: unknown[] = [];
            let cursor: string | null = '';
            for (let page = 0; cursor !== null; page += 1) {
              const query = cursor === '' ? '' : `&cursor=${cursor}`;
              const { data } = await client.call(`${path}?limit=${limit}${query}`);
              seen.push(...list(data.items).map(({ runId }) => runId));
              cursor = data.nextCursor as unknown as string | null;
              await Promise.all(Array.from({ length: between[page] ?? 0 }, () => create(path)));
            }
            expect([...seen].sort()).toEqual(made.map(({ runId }) => runId).sort());
          },
        ),
        { numRuns: 15 },
      );
    });
  });
});
