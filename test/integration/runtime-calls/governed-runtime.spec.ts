import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { ENVELOPE_PARTS } from '../../../src/runtime-adapters/permission/envelope-policy.js';
import type { AgentRuntimeResponse } from '../../../src/runtime-adapters/protocol/agent-runtime-response.js';
import { failureOf } from '../../../src/runtime-adapters/protocol/failure-classification.js';
import { HERMES, NEW_API, runtimeRequest } from '../../factories/runtime-request.js';
import { runtimeResponse } from '../../factories/runtime-response.js';
import { GovernedRuntimeBench } from '../../support/governed-runtime-bench.js';
import { answerWith } from '../../support/scripted-runtimes.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

const CANARY = 'canary-5d1e-never-shown';

let database: TestDatabase;
let bench: GovernedRuntimeBench;

beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(() => {
  bench = new GovernedRuntimeBench(database.dataSource);
});
afterEach(() => {
  bench.stop();
});
afterAll(() => database.close());

describe('a governed call', () => {
  it('is stored before the first byte goes out, with its envelope and snapshot', async () => {
    const request = runtimeRequest();
    bench.runtimes.script = async function* (sent) {
      const call = await bench.ledger.find(request.commandId);
      expect(call).toMatchObject({
        status: 'REQUESTED',
        agentKey: 'writer',
        agentVersion: 1,
        envelope: { allow: [...ENVELOPE_PARTS], maxChars: 1000, actor: { kind: 'admin', id: 'ci' } },
        snapshot: { parts: [{ kind: 'instructions' }, { kind: 'instruction', bytes: 12 }] },
      });
      expect(sent.runtimePermissionEnvelopeId).toBe(call?.envelopeId);
      expect(sent.sourceSnapshotId).toBe(call?.snapshotId);
      yield { type: 'runtime.completed', response: runtimeResponse() };
    };
    const events = await bench.run(request);
    expect(events.map(({ type }) => type)).toEqual(['runtime.requested', 'runtime.completed']);
    await expect(bench.ledger.find(request.commandId)).resolves.toMatchObject({
      status: 'SUCCEEDED',
      providerRequestId: 'req-1',
      totalTokens: '12',
      attribution: 'attributed',
      outputSummary: 'the answer',
      traceability: 'none',
      finishReason: 'stop',
      failure: null,
    });
    expect(bench.defects).toEqual([]);
  });

  it('knows the provider request id before anybody hears of it', async () => {
    const request = runtimeRequest();
    for await (const event of bench.runtime.execute(request, new AbortController().signal)) {
      if (event.type !== 'runtime.started') continue;
      await expect(bench.ledger.find(request.commandId)).resolves.toMatchObject({
        status: 'STARTED',
        providerRequestId: 'req-1',
      });
    }
    expect.assertions(1);
  });

  it('sends nothing where the intent cannot be stored', async () => {
    const request = runtimeRequest({ taskId: 'x\u0000y' });
    await expect(bench.run(request)).rejects.toThrow();
    expect(bench.runtimes.sent).toEqual([]);
  });

  it('goes to the provider of the published version, whatever the request says', async () => {
    const { agentRef } = runtimeRequest();
    await bench.run(runtimeRequest({ agentRef: { ...agentRef, provider: HERMES } }));
    expect(bench.runtimes.sent[0]?.agentRef.provider).toEqual(NEW_API);
  });

  it.each([
    ['a version that is not there', null, 'has no version 1'],
    ['a draft', { status: 'DRAFT' as const }, 'is not published'],
    [
      'an instruction that is too long',
      { envelope: { allow: ENVELOPE_PARTS, maxChars: 3 } },
      '12 characters',
    ],
  ])('refuses %s, and keeps the intent', async (_name, change, why) => {
    const { policy } = bench.policies;
    bench.policies.policy = change && policy && { ...policy, ...change };
    const request = runtimeRequest();
    await expect(bench.response(request)).resolves.toMatchObject({
      status: 'failed',
      failure: { type: 'permission_denied', message: expect.stringContaining(why) as string },
    });
    expect(bench.runtimes.sent).toEqual([]);
    await expect(bench.ledger.find(request.commandId)).resolves.toMatchObject({ status: 'FAILED' });
  });

  it('lets a draft be tried', async () => {
    const { policy } = bench.policies;
    bench.policies.policy = policy && { ...policy, status: 'DRAFT' };
    await expect(bench.response(runtimeRequest({ scenario: 'trial' }))).resolves.toMatchObject({
      status: 'succeeded',
    });
  });

  it('refuses an agent of no version outside our bridge', async () => {
    const agentRef = { agentKey: null, version: null, slotKey: null, provider: NEW_API };
    await expect(bench.response(runtimeRequest({ agentRef }))).resolves.toMatchObject({
      failure: { type: 'permission_denied' },
    });
  });

  it('records what was trimmed', async () => {
    const { policy } = bench.policies;
    bench.policies.policy = policy && { ...policy, envelope: { allow: ['instruction'], maxChars: 100 } };
    const request = runtimeRequest();
    request.inputEnvelope.knowledge = [{ kind: 'knowledge', ref: 'kb:1', text: 'private' }];
    await bench.run(request);
    expect(bench.runtimes.sent[0]?.inputEnvelope.knowledge).toEqual([]);
    await expect(bench.ledger.find(request.commandId)).resolves.toMatchObject({
      trimmed: [{ part: 'knowledge', ref: 'kb:1', reason: 'not_allowed', chars: 7 }],
    });
  });

  it.each([
    ['in all', 12],
    ['by its parts only', null],
  ])('fails an answer over the budget of the version, told %s', async (_how, totalTokens) => {
    const { policy } = bench.policies;
    bench.policies.policy = policy && { ...policy, budgetTokens: 11 };
    const usage = { promptTokens: 7, completionTokens: 5, totalTokens, durationMs: 40 };
    bench.runtimes.script = answerWith(runtimeResponse({ usage }));
    await expect(bench.response(runtimeRequest())).resolves.toMatchObject({
      status: 'failed',
      output: null,
      finishReason: 'error',
      failure: { type: 'quota_exceeded', code: 'agent_budget', retryable: false },
    });
  });

  it('leaves the outcome unknown where an adapter throws', async () => {
    bench.runtimes.script = async function* () {
      yield { type: 'runtime.started', providerRequestId: 'req-9' };
      await Promise.resolve();
      throw new Error('a defect');
    };
    const request = runtimeRequest();
    await expect(bench.response(request)).resolves.toMatchObject({ failure: { type: 'outcome_unknown' } });
    await expect(bench.ledger.find(request.commandId)).resolves.toMatchObject({
      status: 'UNKNOWN',
      providerRequestId: 'req-9',
    });
    expect(bench.defects).toHaveLength(1);
  });

  it('stops the provider and records its end when nobody listens any more', async () => {
    bench.runtimes.script = async function* (_request, signal) {
      yield { type: 'runtime.started', providerRequestId: 'req-7' };
      yield { type: 'runtime.delta', channel: 'text', text: 'a' };
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve());
      });
      const failed = { status: 'cancelled' as const, output: null, finishReason: 'cancelled' as const };
      yield {
        type: 'runtime.cancelled',
        response: runtimeResponse({ ...failed, providerRequestId: 'req-7' }),
      };
    };
    const request = runtimeRequest();
    for await (const event of bench.runtime.execute(request, new AbortController().signal)) {
      if (event.type === 'runtime.delta') break;
    }
    await expect(bench.ledger.find(request.commandId)).resolves.toMatchObject({ status: 'CANCELLED' });
  });

  it('costs two commits in our own bridge', async () => {
    const { policy } = bench.policies;
    bench.policies.policy = policy && { ...policy, provider: HERMES };
    const commits: string[] = [];
    const query = database.dataSource.query.bind(database.dataSource);
    const counted = jest.spyOn(database.dataSource, 'query').mockImplementation((text, values) => {
      if (text.includes('runtime_calls')) commits.push(text);
      return query(text, values as unknown[]);
    });
    await bench.run(runtimeRequest());
    counted.mockRestore();
    expect(commits).toHaveLength(2);
  });

  it('takes figures and ids of a provider for what they are, in the answer and in the ledger', async () => {
    const usage = { promptTokens: -5, completionTokens: 1e300, totalTokens: 4.4, durationMs: 40 };
    bench.runtimes.script = answerWith(
      runtimeResponse({
        usage: { ...usage, cost: { amount: '6.0E-7', currency: 'USD' } },
        providerRequestId: 'x'.repeat(5_000),
      }),
    );
    const request = runtimeRequest();
    const response = await bench.response(request);
    expect(response).toMatchObject({
      providerRequestId: null,
      usage: {
        promptTokens: null,
        completionTokens: null,
        totalTokens: 4,
        cost: { amount: '0.00000060', currency: 'USD' },
      },
    });
    await expect(bench.response(request)).resolves.toEqual(response);
    await expect(bench.ledger.find(request.commandId)).resolves.toMatchObject({
      attribution: 'unattributed',
      totalTokens: '4',
      costAmount: '0.00000060',
    });
  });

  it('shows a secret nowhere, whatever carries it', async () => {
    bench.redactor.register('credentials.canary', CANARY);
    bench.runtimes.script = answerWith(
      runtimeResponse({
        outputSummary: `got ${CANARY}`,
        output: { text: `got ${CANARY}`, data: { key: CANARY } },
        status: 'succeeded',
        providerRequestId: CANARY,
      }),
      [
        { type: 'runtime.started', providerRequestId: `id-${CANARY}`, recovery: { taskId: CANARY } },
        { type: 'runtime.tool_call', callId: CANARY, tool: CANARY, args: CANARY },
        { type: 'runtime.tool_result', callId: CANARY, tool: CANARY, result: [CANARY], error: CANARY },
        { type: 'runtime.todo', todos: [{ text: CANARY }] },
      ],
    );
    const request = runtimeRequest({ correlationId: CANARY, scenario: CANARY });
    request.inputEnvelope.knowledge = [{ kind: 'knowledge', ref: CANARY, text: CANARY }];
    const events = await bench.run(request);
    const rows: unknown = await database.dataSource.query(
      `SELECT c.*, o.output FROM runtime_calls c LEFT JOIN runtime_call_outputs o USING (command_id)`,
    );
    expect(JSON.stringify([events, rows])).not.toContain(CANARY);
  });
});

describe('a repeated command', () => {
  it('gets the first end and sends nothing', async () => {
    const request = runtimeRequest();
    const first = await bench.response(request);
    const again = await bench.response(request);
    expect(again).toEqual(first);
    expect(bench.runtimes.sent).toHaveLength(1);
  });

  it('gets it from another process too', async () => {
    const request = runtimeRequest();
    const first = await bench.response(request);
    const other = new GovernedRuntimeBench(database.dataSource);
    await expect(other.response(request)).resolves.toEqual(first);
    expect(other.runtimes.sent).toEqual([]);
    other.stop();
  });

  it('gets a failure as it was', async () => {
    const failure = {
      type: 'rate_limited' as const,
      code: 'slow_down',
      httpStatus: 429,
      retryable: true,
      message: 'wait',
    };
    bench.runtimes.script = answerWith(
      runtimeResponse({ status: 'retryable_failed', output: null, failure }),
    );
    const request = runtimeRequest();
    const first = await bench.response(request);
    await expect(bench.response(request)).resolves.toEqual(first);
    expect(first).toMatchObject({ status: 'retryable_failed', failure });
  });

  it('is sent once when many come at the same instant, to two processes', async () => {
    const other = new GovernedRuntimeBench(database.dataSource);
    const request = runtimeRequest();
    const responses = await Promise.all(
      [bench, other, bench, other, bench].map((process) => process.response(request)),
    );
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
    expect(bench.runtimes.sent.length + other.runtimes.sent.length).toBe(1);
    other.stop();
  });

  it('is refused when it asks for something else, also while the first runs', async () => {
    const request = runtimeRequest();
    const different = structuredClone(request);
    different.inputEnvelope.instruction = 'Something else';
    const running = bench.run(request);
    await expect(bench.run(different)).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
    await running;
    await expect(bench.run(different)).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  it.each([
    ['another output contract', { outputContract: { type: 'json' as const } }],
    ['sources', { traceabilityPolicy: { requireSourceRefs: true } }],
  ])('is refused when its caller asks for %s this time', async (_what, own) => {
    const request = runtimeRequest();
    const never = new AbortController().signal;
    await bench.run(request);
    await expect(bench.run({ ...request, ...own }, never, own)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    // What the agent's version says may differ from one try to the next.
    await expect(bench.run({ ...request, ...own })).resolves.toHaveLength(2);
    await expect(
      bench.run(request, never, { traceabilityPolicy: { requireSourceRefs: false } }),
    ).resolves.toHaveLength(2);
  });

  it('stops waiting for the first when it is aborted, without disturbing it', async () => {
    let finish = (): void => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    bench.runtimes.script = async function* () {
      await finished;
      yield { type: 'runtime.completed', response: runtimeResponse() };
    };
    const request = runtimeRequest();
    const first = bench.response(request);
    const abort = new AbortController();
    const second = bench.run(request, abort.signal);
    abort.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    finish();
    await expect(first).resolves.toMatchObject({ status: 'succeeded' });
  });
});

describe('recovery', () => {
  const never = new AbortController().signal;

  /** Leaves a call as a killed process does. */
  async function interrupted(
    provider = NEW_API,
    started: { providerRequestId: string | null; recovery?: Record<string, string> } | null = null,
    jobId: string | null = null,
  ): Promise<string> {
    const dead = new GovernedRuntimeBench(database.dataSource);
    if (dead.policies.policy) dead.policies.policy = { ...dead.policies.policy, provider };
    const request = runtimeRequest({ jobId });
    let reached = (): void => undefined;
    const sent = new Promise<void>((resolve) => (reached = resolve));
    dead.runtimes.script = async function* () {
      if (started) yield { type: 'runtime.started', ...started };
      reached();
      await new Promise(() => undefined);
    };
    void dead.run(request);
    await sent;
    dead.stop();
    return request.commandId;
  }

  it('of a command that was never requested allows to execute', async () => {
    await expect(bench.recover.execute('never-seen', never)).resolves.toEqual({ kind: 'execute-again' });
  });

  it('polls a call whose provider id is known, and never sends it', async () => {
    const commandId = await interrupted(NEW_API, { providerRequestId: 'req-3', recovery: { task: 't1' } });
    bench.runtimes.recovered = () => Promise.resolve(runtimeResponse({ providerRequestId: 'req-3' }));
    const recovered = await bench.recover.execute(commandId, never);
    expect(recovered).toMatchObject({
      kind: 'ended',
      response: { status: 'succeeded', output: { text: 'the answer' } },
    });
    expect(bench.runtimes.polled).toMatchObject([
      {
        commandId,
        providerRequestId: 'req-3',
        recovery: { task: 't1' },
        agentKey: 'writer',
        provider: NEW_API,
      },
    ]);
    expect(bench.runtimes.sent).toEqual([]);
    await expect(bench.ledger.find(commandId)).resolves.toMatchObject({ status: 'SUCCEEDED' });
    await expect(bench.recover.execute(commandId, never)).resolves.toEqual(recovered);
    expect(bench.runtimes.polled).toHaveLength(1);
  });

  it('of an external call without provider id is outcome_unknown', async () => {
    const commandId = await interrupted(NEW_API);
    await expect(bench.recover.execute(commandId, never)).resolves.toMatchObject({
      kind: 'ended',
      response: { status: 'failed', failure: { type: 'outcome_unknown', retryable: false } },
    });
    await expect(bench.ledger.find(commandId)).resolves.toMatchObject({ status: 'UNKNOWN' });
  });

  it('of our own bridge allows a further attempt', async () => {
    const commandId = await interrupted(HERMES, { providerRequestId: null });
    await expect(bench.recover.execute(commandId, never)).resolves.toEqual({ kind: 'execute-again' });
    await expect(bench.ledger.find(commandId)).resolves.toMatchObject({ status: 'UNKNOWN' });
  });

  it('takes the answer of a call that had succeeded, while it is kept', async () => {
    const request = runtimeRequest();
    await bench.run(request);
    await expect(bench.recover.execute(request.commandId, never)).resolves.toMatchObject({
      kind: 'ended',
      response: { status: 'succeeded', output: { text: 'the answer' } },
    });
    await database.dataSource.query(`DELETE FROM runtime_call_outputs`);
    await expect(bench.recover.execute(request.commandId, never)).resolves.toMatchObject({
      kind: 'ended',
      response: { failure: { type: 'outcome_unknown' } },
    });
  });

  it('that is given up before the provider has told leaves the call for whoever asks next', async () => {
    const commandId = await interrupted(NEW_API, { providerRequestId: 'req-6' });
    const stop = new AbortController();
    bench.runtimes.recovered = () => {
      stop.abort(new Error('the server stops'));
      const failure = failureOf('outcome_unknown', 'the call was cancelled', { code: 'aborted' });
      return Promise.resolve(runtimeResponse({ status: 'failed', output: null, failure }));
    };
    await expect(bench.recover.execute(commandId, stop.signal)).rejects.toThrow('the server stops');
    await expect(bench.ledger.find(commandId)).resolves.toMatchObject({ status: 'STARTED', failure: null });
    bench.runtimes.recovered = () => Promise.resolve(runtimeResponse());
    await expect(bench.recover.execute(commandId, never)).resolves.toMatchObject({
      response: { status: 'succeeded' },
    });
  });

  it('that learns the end just as it is given up keeps it', async () => {
    const commandId = await interrupted(NEW_API, { providerRequestId: 'req-6' });
    const stop = new AbortController();
    bench.runtimes.recovered = () => {
      stop.abort(new Error('the server stops'));
      return Promise.resolve(runtimeResponse());
    };
    await expect(bench.recover.execute(commandId, stop.signal)).resolves.toMatchObject({
      response: { status: 'succeeded' },
    });
    await expect(bench.ledger.find(commandId)).resolves.toMatchObject({ status: 'SUCCEEDED' });
  });

  it('goes on while the command is repeated, and the repeat gets what is found out', async () => {
    const dead = new GovernedRuntimeBench(database.dataSource);
    const request = runtimeRequest();
    dead.runtimes.script = async function* () {
      yield { type: 'runtime.started', providerRequestId: 'req-5', recovery: { task: 't5' } };
      await new Promise(() => undefined);
    };
    const events = dead.runtime.execute(request, never);
    for (let event = await events.next(); !event.done; event = await events.next())
      if (event.value.type === 'runtime.started') break;
    dead.stop();
    const repeat = bench.response(request);
    await database.dataSource.query(
      `UPDATE runtime_calls SET requested_at = now() - interval '1 hour' WHERE command_id = $1`,
      [request.commandId],
    );
    await database.dataSource.query(`DELETE FROM runtime_call_owners WHERE owner = $1`, [dead.owners.me]);
    bench.runtimes.recovered = () => Promise.resolve(runtimeResponse({ providerRequestId: 'req-5' }));
    await expect(bench.orphans.execute(never)).resolves.toBe(1);
    await expect(repeat).resolves.toMatchObject({ status: 'succeeded', providerRequestId: 'req-5' });
    expect([bench.runtimes.polled.length, bench.runtimes.sent.length]).toEqual([1, 0]);
  });

  it('by the sweeper does not wait for a run that does not end before it settles the others', async () => {
    const stuck = await interrupted(NEW_API, { providerRequestId: 'stuck' });
    const age = (commandId: string): Promise<unknown> =>
      database.dataSource.query(
        `WITH gone AS (UPDATE runtime_calls SET requested_at = now() - interval '1 hour' WHERE command_id = $1
                       RETURNING owner)
         DELETE FROM runtime_call_owners WHERE owner IN (SELECT owner FROM gone)`,
        [commandId],
      );
    await age(stuck);
    const asked: string[] = [];
    let end: (response: AgentRuntimeResponse) => void = () => undefined;
    const ended = new Promise<AgentRuntimeResponse>((resolve) => (end = resolve));
    bench.runtimes.recovered = (call) => {
      asked.push(call.commandId);
      return call.commandId === stuck ? ended : Promise.resolve(runtimeResponse());
    };
    const stop = new AbortController();
    await expect(bench.orphans.execute(stop.signal)).resolves.toBe(0);
    const next = await interrupted(NEW_API, { providerRequestId: 'next' });
    await age(next);
    await expect(bench.orphans.execute(stop.signal)).resolves.toBe(1);
    expect(asked).toEqual([stuck, next]);
    await expect(bench.ledger.find(next)).resolves.toMatchObject({ status: 'SUCCEEDED' });
    await expect(bench.ledger.find(stuck)).resolves.toMatchObject({ status: 'STARTED' });
    end(runtimeResponse());
    await bench.orphans.idle();
    await expect(bench.ledger.find(stuck)).resolves.toMatchObject({ status: 'SUCCEEDED' });
  });

  it('by the sweeper ends what a gone process left, and leaves living processes and running visits alone', async () => {
    const lost = await interrupted(NEW_API, { providerRequestId: 'lost' });
    const stopped = await interrupted(NEW_API, { providerRequestId: 'stopped' }, randomUUID());
    const visit = randomUUID();
    const running = await interrupted(NEW_API, { providerRequestId: 'running' }, visit);
    await database.dataSource.query(
      `INSERT INTO visits (run_id, sort_order, visit_uuid, node_id, node_type, iter_seq, attempt, status,
                           predecessors, started_at)
       VALUES ('run-1', 1, $1, 'n', 'agent', 1, 1, 'RUNNING', '{}', now())`,
      [visit],
    );
    const alive = await interrupted(NEW_API, { providerRequestId: 'alive' });
    const aged = [lost, stopped, running];
    await database.dataSource.query(
      `UPDATE runtime_calls SET requested_at = now() - interval '1 hour' WHERE command_id = ANY($1)`,
      [aged],
    );
    await database.dataSource.query(
      `DELETE FROM runtime_call_owners WHERE owner IN
         (SELECT owner FROM runtime_calls WHERE command_id = ANY($1))`,
      [aged],
    );
    bench.runtimes.recovered = (call) =>
      Promise.resolve(runtimeResponse({ providerRequestId: call.providerRequestId }));
    await bench.orphans.execute(never);
    const states = await Promise.all(
      [lost, stopped, running, alive].map(async (id) => (await bench.ledger.find(id))?.status),
    );
    expect(states).toEqual(['SUCCEEDED', 'CANCELLED', 'STARTED', 'STARTED']);
    expect(bench.runtimes.stopped.map(({ commandId }) => commandId)).toEqual([stopped]);
    expect(bench.defects).toEqual([]);
  });
});

describe('a call whose end could not be recorded', () => {
  it('is settled after its deadline, also by the process that made it', async () => {
    const request = runtimeRequest();
    bench.runtimes.script = answerWith(runtimeResponse());
    const ended = jest.spyOn(bench.ledger, 'ended').mockRejectedValueOnce(new Error('no database'));
    await expect(bench.run(request)).rejects.toThrow('no database');
    ended.mockRestore();
    await bench.orphans.execute(new AbortController().signal);
    await expect(bench.ledger.find(request.commandId)).resolves.toMatchObject({ status: 'STARTED' });
    await database.dataSource.query(
      `UPDATE runtime_calls SET deadline_at = now() - interval '2 min' WHERE command_id = $1`,
      [request.commandId],
    );
    bench.runtimes.recovered = () => Promise.resolve(runtimeResponse());
    await bench.orphans.execute(new AbortController().signal);
    await expect(bench.ledger.find(request.commandId)).resolves.toMatchObject({ status: 'SUCCEEDED' });
    expect(bench.runtimes.sent).toHaveLength(1);
  });
});

describe('the recovery of a visit', () => {
  const never = new AbortController().signal;

  it('takes the end of the latest attempt that sent anything', async () => {
    const visit = randomUUID();
    const request = (attempt: number) => runtimeRequest({ commandId: `${visit}:${attempt}`, jobId: visit });
    await expect(bench.recover.ofVisit(visit, 2, never)).resolves.toEqual({ kind: 'execute-again' });
    await bench.run(request(1));
    // The second attempt was begun and cut off before it sent anything.
    await expect(bench.recover.ofVisit(visit, 3, never)).resolves.toMatchObject({
      kind: 'ended',
      response: { status: 'succeeded' },
    });
    expect(bench.runtimes.sent).toHaveLength(1);
  });

  it('leaves a failure that may be tried again, and a confirmed stop, to a further attempt', async () => {
    const failure = {
      type: 'rate_limited' as const,
      code: null,
      httpStatus: 429,
      retryable: true,
      message: 'wait',
    };
    for (const change of [
      { status: 'retryable_failed' as const, failure },
      { status: 'cancelled' as const, finishReason: 'cancelled' as const },
    ]) {
      bench.runtimes.script = answerWith(runtimeResponse({ output: null, ...change }));
      const visit = randomUUID();
      await bench.run(runtimeRequest({ commandId: `${visit}:1`, jobId: visit }));
      await expect(bench.recover.ofVisit(visit, 2, never)).resolves.toEqual({ kind: 'execute-again' });
    }
  });

  it('keeps to a failure that is final', async () => {
    const failure = {
      type: 'outcome_unknown' as const,
      code: null,
      httpStatus: null,
      retryable: false,
      message: 'lost',
    };
    bench.runtimes.script = answerWith(runtimeResponse({ status: 'failed', output: null, failure }));
    const visit = randomUUID();
    await bench.run(runtimeRequest({ commandId: `${visit}:1`, jobId: visit }));
    await expect(bench.recover.ofVisit(visit, 2, never)).resolves.toMatchObject({
      kind: 'ended',
      response: { failure: { type: 'outcome_unknown' } },
    });
  });
});

describe('kept answers', () => {
  it('stay while their visit runs, and go with its end or their time', async () => {
    const [ended, running] = [randomUUID(), randomUUID()];
    const insert = `INSERT INTO visits (run_id, sort_order, visit_uuid, node_id, node_type, iter_seq, attempt, status,
                                        predecessors, started_at)
                    VALUES ('run-2', $1, $2, 'n', 'agent', 1, 1, $3, '{}', now())`;
    await database.dataSource.query(insert, [1, ended, 'SUCCESS']);
    await database.dataSource.query(insert, [2, running, 'RUNNING']);
    const ids = {
      ofEnded: runtimeRequest({ jobId: ended }),
      ofRunning: runtimeRequest({ jobId: running }),
      fresh: runtimeRequest(),
      old: runtimeRequest(),
    };
    for (const request of Object.values(ids)) await bench.run(request);
    await database.dataSource.query(
      `UPDATE runtime_call_outputs SET kept_until = now() - interval '1 s' WHERE command_id = ANY($1)`,
      [[ids.old.commandId, ids.ofRunning.commandId]],
    );
    await bench.outputs.execute();
    const kept = await Promise.all(
      Object.values(ids).map(async ({ commandId }) => (await bench.ledger.output(commandId)) !== null),
    );
    expect(kept).toEqual([false, true, true, false]);
  });
});
