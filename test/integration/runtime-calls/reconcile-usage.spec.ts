import { CredentialError } from '../../../src/credentials/index.js';
import { ReadNewApiLog } from '../../../src/runtime-adapters/ledger/read-new-api-log.js';
import { ReadUsage } from '../../../src/runtime-adapters/ledger/read-usage.js';
import { ReconcileUsage } from '../../../src/runtime-adapters/ledger/reconcile-usage.js';
import { runtimeRequest } from '../../factories/runtime-request.js';
import { runtimeResponse } from '../../factories/runtime-response.js';
import { GovernedRuntimeBench } from '../../support/governed-runtime-bench.js';
import { htmlPage, json, type Play } from '../../support/providers/play.js';
import { ProviderStub, type ReceivedRequest } from '../../support/providers/provider-stub.js';
import { answerWith } from '../../support/scripted-runtimes.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

/** New-API's `/api/log/self`, by facts/new-api.md. */
class NewApiLogStub extends ProviderStub {
  readonly key = 'access-token';
  entries: Record<string, unknown> = {};

  get baseUrl(): string {
    return `${this.origin}/v1`;
  }

  protected isCommand({ method, path }: ReceivedRequest): boolean {
    return method === 'GET' && path === '/api/log/self';
  }

  protected answer({ path, query, headers }: ReceivedRequest): Play {
    if (path !== '/api/log/self' || headers['new-api-user'] !== '7' || query.get('type') !== '2') {
      return json(200, { success: false, message: 'unauthorized' });
    }
    const entry = this.entries[query.get('request_id') ?? ''];
    return json(200, { success: true, message: '', data: { page: 1, items: entry ? [entry] : [] } });
  }

  protected unauthorized(): Play {
    return json(200, { success: false, message: 'unauthorized' });
  }
}

let database: TestDatabase;
let stub: NewApiLogStub;
let bench: GovernedRuntimeBench;
let reconcile: ReconcileUsage;
let errors: unknown[];
const never = new AbortController().signal;

beforeAll(async () => {
  database = await createTestDatabase();
  stub = await new NewApiLogStub().start();
});
beforeEach(async () => {
  stub.reset();
  stub.entries = {};
  errors = [];
  await database.dataSource.query('DELETE FROM runtime_calls');
  bench = new GovernedRuntimeBench(database.dataSource, { hasLogAccess: () => true });
  const credentials = {
    resolve: () =>
      Promise.resolve({
        value: 'sk-x',
        baseUrl: stub.baseUrl,
        parts: { accessToken: 'access-token', userId: '7' },
      }),
  };
  reconcile = new ReconcileUsage(database.dataSource, new ReadNewApiLog(credentials), (error) =>
    errors.push(error),
  );
});
afterEach(() => {
  bench.stop();
});
afterAll(async () => {
  await stub.close();
  await database.close();
});

async function call(providerRequestId: string | null): Promise<string> {
  const request = runtimeRequest();
  bench.runtimes.script = answerWith(runtimeResponse({ providerRequestId }));
  await bench.run(request);
  return request.commandId;
}

const makeDue = (): Promise<unknown> =>
  database.dataSource.query(
    `UPDATE runtime_calls SET reconcile_after = now() - interval '1 s' WHERE reconcile_after IS NOT NULL`,
  );

describe('reconciling usage', () => {
  it('puts what the log says beside what the call reported', async () => {
    const commandId = await call('req-1');
    stub.entries['req-1'] = { quota: 250, prompt_tokens: 8, completion_tokens: 6, use_time: 2 };
    await makeDue();
    await expect(reconcile.execute(never)).resolves.toBe(1);
    await expect(bench.ledger.find(commandId)).resolves.toMatchObject({
      totalTokens: '12',
      reconciled: { quota: 250, promptTokens: 8, completionTokens: 6, useTime: 2 },
      reconcileAfter: null,
    });
    const now = Date.now();
    const usage = await new ReadUsage(database.dataSource).execute({
      groupBy: ['agent'],
      from: new Date(now - 60_000),
      to: new Date(now + 60_000),
      offset: 0,
      limit: 10,
    });
    expect(usage).toMatchObject([
      { agentKey: 'writer', attributed: 1, reconciled: { calls: 1, quota: 250, promptTokens: 8 } },
    ]);
    await makeDue();
    await expect(reconcile.execute(never)).resolves.toBe(0);
    expect(errors).toEqual([]);
  });

  it('waits before it asks, and asks for nothing that has no request id', async () => {
    await call('req-early');
    await call(null);
    await expect(reconcile.execute(never)).resolves.toBe(0);
    expect(stub.posts).toBe(0);
    await makeDue();
    await reconcile.execute(never);
    expect(stub.posts).toBe(1);
  });

  it('asks again later where the log does not know the request, and gives up in the end', async () => {
    const commandId = await call('req-unknown');
    for (let tries = 0; tries < 12; tries += 1) {
      await makeDue();
      await reconcile.execute(never);
    }
    expect(stub.posts).toBe(8);
    await expect(bench.ledger.find(commandId)).resolves.toMatchObject({
      reconciled: null,
      reconcileAfter: null,
      attribution: 'attributed',
    });
  });

  it('asks once when two processes look at the same time', async () => {
    await call('req-both');
    await makeDue();
    await Promise.all([reconcile.execute(never), reconcile.execute(never)]);
    expect(stub.posts).toBe(1);
  });

  it.each([
    ['a page', htmlPage(200)],
    ['a refusal inside a 200', json(200, { success: false, message: 'no' })],
    ['a server error', json(500, { success: true, data: [] })],
  ])('reports %s and keeps the call for a later try', async (_name, play) => {
    const commandId = await call('req-2');
    await makeDue();
    stub.next(play);
    await expect(reconcile.execute(never)).resolves.toBe(0);
    expect(errors).toHaveLength(1);
    const later = await bench.ledger.find(commandId);
    expect(later?.reconcileAfter?.getTime()).toBeGreaterThan(Date.now());
  });

  it('reports a credential that cannot be used any more', async () => {
    await call('req-3');
    await makeDue();
    const refuse = {
      resolve: () => Promise.reject(new CredentialError('unknown', 'credentials.k', 'is gone')),
    };
    const without = new ReconcileUsage(database.dataSource, new ReadNewApiLog(refuse), (error) =>
      errors.push(error),
    );
    await expect(without.execute(never)).resolves.toBe(0);
    expect(errors[0]).toBeInstanceOf(CredentialError);
  });
});
