import { AgentRepository } from '../../../src/agents/agent.repository.js';
import { AgentCatalogue } from '../../../src/agents/catalogue/agent-catalogue.js';
import { ReadUsage } from '../../../src/runtime-adapters/ledger/read-usage.js';
import { runtimeRequest } from '../../factories/runtime-request.js';
import { GovernedRuntimeBench } from '../../support/governed-runtime-bench.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

const CONFIG = {
  runtimeProvider: 'new-api',
  newApi: { model: 'm', credentialRef: 'c' },
  instructions: 'You write.',
  envelope: { allow: ['instruction', 'knowledge'], maxChars: 50 },
  budget: { tokens: 9 },
  timeoutPolicy: { totalSeconds: 20 },
};

let database: TestDatabase;
let catalogue: AgentCatalogue;

beforeEach(async () => {
  database = await createTestDatabase();
  catalogue = new AgentCatalogue(new AgentRepository(database.dataSource));
});
afterEach(() => database.close());

/** Rows as an import or an older release may have left them: no check has seen them. */
async function stored(
  agentKey: string,
  versions: { config: unknown; status?: string }[],
  currentVersion: number | null = 1,
  archived = false,
): Promise<void> {
  await database.dataSource.query(
    `INSERT INTO agents (agent_key, display_name, description, current_version, last_version, created_at, updated_at,
                         archived_at)
     VALUES ($1, '""', '""', $2, $3, now(), now(), CASE WHEN $4 THEN now() END)`,
    [agentKey, currentVersion, versions.length, archived],
  );
  for (const [index, { config, status = 'PUBLISHED' }] of versions.entries()) {
    await database.dataSource.query(
      `INSERT INTO agent_versions (agent_key, version, status, config, created_at, created_by)
       VALUES ($1, $2, $3, $4, now(), '"ci"')`,
      [agentKey, index + 1, status, JSON.stringify(config)],
    );
  }
}

describe('the catalogue', () => {
  it('resolves the current version with its policies', async () => {
    await stored('writer', [{ config: CONFIG }]);
    await expect(catalogue.resolve({ agentKey: 'writer' })).resolves.toEqual({
      agentRef: {
        agentKey: 'writer',
        version: 1,
        slotKey: null,
        provider: { runtimeProvider: 'new-api', newApi: { model: 'm', credentialRef: 'c' } },
      },
      instructions: 'You write.',
      outputContract: { type: 'text' },
      tools: [],
      policies: {
        traceabilityPolicy: { requireSourceRefs: false },
        timeoutPolicy: { totalSeconds: 20, idleSeconds: 20 },
        retryPolicy: { maxAttempts: 1 },
        auditPolicy: { level: 'summary' },
      },
      budgetTokens: 9,
    });
    await expect(catalogue.find('writer', 1)).resolves.toMatchObject({
      status: 'PUBLISHED',
      envelope: { allow: ['instruction', 'knowledge'], maxChars: 50 },
      budgetTokens: 9,
    });
  });

  it('resolves a slot to whatever is bound to it at that moment', async () => {
    await stored('first', [{ config: CONFIG }]);
    await stored('second', [{ config: CONFIG }]);
    await expect(catalogue.resolve({ slotKey: 'continuation' })).resolves.toBeNull();
    await database.dataSource.query(`INSERT INTO agent_slots VALUES ('continuation', 'first', now())`);
    await expect(catalogue.resolve({ slotKey: 'continuation' })).resolves.toMatchObject({
      agentRef: { agentKey: 'first', slotKey: 'continuation' },
    });
    await database.dataSource.query(`UPDATE agent_slots SET agent_key = 'second'`);
    await expect(catalogue.resolve({ slotKey: 'continuation' })).resolves.toMatchObject({
      agentRef: { agentKey: 'second' },
    });
  });

  it('sees a switch of the current version at once', async () => {
    await stored('writer', [{ config: CONFIG }, { config: { ...CONFIG, instructions: 'New.' } }]);
    await expect(catalogue.resolve({ agentKey: 'writer' })).resolves.toMatchObject({
      instructions: 'You write.',
    });
    await database.dataSource.query(`UPDATE agents SET current_version = 2`);
    await expect(catalogue.resolve({ agentKey: 'writer' })).resolves.toMatchObject({ instructions: 'New.' });
    await expect(catalogue.resolve({ agentKey: 'writer', version: 1 })).resolves.toMatchObject({
      instructions: 'You write.',
    });
  });

  it('takes an old version without runtimeProvider for new-api', async () => {
    const old = { ...CONFIG, runtimeProvider: undefined };
    await stored('old', [{ config: old }]);
    await expect(catalogue.resolve({ agentKey: 'old' })).resolves.toMatchObject({
      agentRef: { provider: { runtimeProvider: 'new-api' } },
    });
  });

  it('lets nothing but the instruction and its form leave where a version says nothing', async () => {
    await stored('plain', [{ config: { runtimeProvider: 'hermes', hermes: { model: 'demo' } } }]);
    await expect(catalogue.find('plain', 1)).resolves.toMatchObject({
      envelope: { allow: ['instruction', 'formatRequirements'] },
      tools: [],
    });
  });

  it.each([
    ['an agent that is not there', { agentKey: 'nobody' }],
    ['an archived agent', { agentKey: 'archived' }],
    ['an agent without published version', { agentKey: 'draft' }],
    ['a draft by its number', { agentKey: 'draft', version: 1 }],
    ['a version that is not there', { agentKey: 'archived', version: 3 }],
    ['a number no version can have', { agentKey: 'whole', version: 9_999_999_999 }],
    ['an incomplete reference', { agentKey: 'broken' }],
    ['a key that the database would refuse', { agentKey: 'a\u0000b' }],
    ['a slot that the database would refuse', { slotKey: 'a\u0000b' }],
  ])('resolves %s to nothing', async (_name, name) => {
    await stored('archived', [{ config: CONFIG }], 1, true);
    await stored('draft', [{ config: CONFIG, status: 'DRAFT' }], null);
    await stored('broken', [{ config: { runtimeProvider: 'dify' } }]);
    await stored('whole', [{ config: CONFIG }]);
    await expect(catalogue.resolve(name)).resolves.toBeNull();
  });
});

describe('usage of runs', () => {
  it('is told by workflow', async () => {
    const [{ id } = { id: '' }] = await database.dataSource.query<{ id: string }[]>(
      `INSERT INTO workflows (name, display_name, description, current_version, created_at, updated_at)
       VALUES ('report-pipeline', '""', '""', 1, now(), now()) RETURNING id`,
    );
    await database.dataSource.query(
      `INSERT INTO runs (run_id, workflow_id, workflow_version, status, variables, ttl_hours, created_at)
       VALUES ('run-1', $1, 1, 'RUNNING', '{}', 1, now())`,
      [id],
    );
    const bench = new GovernedRuntimeBench(database.dataSource);
    await bench.run(runtimeRequest({ taskId: 'run-1' }));
    await bench.run(runtimeRequest());
    bench.stop();
    const range = {
      from: new Date(Date.now() - 60_000),
      to: new Date(Date.now() + 60_000),
      offset: 0,
      limit: 10,
    };
    const usage = new ReadUsage(database.dataSource);
    await expect(usage.execute({ groupBy: ['workflow'], ...range })).resolves.toMatchObject([
      { workflowName: 'report-pipeline', calls: 1, totalTokens: 12 },
      { workflowName: null, calls: 1, totalTokens: 12 },
    ]);
    await expect(
      usage.execute({ groupBy: ['agent'], workflowName: 'report-pipeline', ...range }),
    ).resolves.toMatchObject([{ agentKey: 'writer', calls: 1 }]);
  });

  it('sums costs by currency, exactly', async () => {
    const insert = (id: string, amount: string, currency: string): Promise<unknown> =>
      database.dataSource.query(
        `INSERT INTO runtime_calls (command_id, request_digest, status, provider, provider_ref, correlation_id, actor,
                                    scenario, trimmed, owner, requested_at, deadline_at, cost_amount, cost_currency)
         VALUES ($1, '', 'SUCCEEDED', 'dify', '{}', '""', '{}', '""', '[]', '', now(), now(), $2, $3)`,
        [id, amount, currency],
      );
    await insert('a', '0.1', 'USD');
    await insert('b', '0.2', 'USD');
    await insert('c', '7', 'RMB');
    const [row] = await new ReadUsage(database.dataSource).execute({
      groupBy: ['provider'],
      from: new Date(0),
      to: new Date(Date.now() + 60_000),
      offset: 0,
      limit: 10,
    });
    expect(row).toMatchObject({
      provider: 'dify',
      calls: 3,
      cost: [
        { amount: '7', currency: 'RMB' },
        { amount: '0.3', currency: 'USD' },
      ],
    });
  });
});
