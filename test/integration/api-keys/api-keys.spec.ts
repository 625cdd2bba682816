import type { AppConfig } from '../../../src/config/app-config.js';
import { SecretReader } from '../../../src/config/secret-reader.js';
import { ApiKeyRepository, ApiKeys, CreateApiKey, RevokeApiKey } from '../../../src/api-keys/index.js';
import { AuditLog } from '../../../src/audit/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

const BY = { actor: { kind: 'admin-key', name: 'admin' }, correlationId: null } as const;

let database: TestDatabase;
let repository: ApiKeyRepository;
let apiKeys: ApiKeys;
let createApiKey: CreateApiKey;
let revokeApiKey: RevokeApiKey;

beforeAll(async () => {
  database = await createTestDatabase();
  repository = new ApiKeyRepository(database.dataSource);
  const audit = new AuditLog({ redactDeep: (value) => value });
  const keys = [{ name: 'configured', key: 'configured-key', workflowNames: [], workflowIds: [] }];
  apiKeys = new ApiKeys({ externalApi: { keys } } as unknown as AppConfig, new SecretReader({}), repository);
  createApiKey = new CreateApiKey(repository, apiKeys, audit);
  revokeApiKey = new RevokeApiKey(repository, audit);
});
afterAll(() => database.close());

it('makes a key that works, of which only the hash is stored', async () => {
  const { entity, key } = await createApiKey.execute(
    { name: '报告 CI', workflowNames: ['a'], workflowIds: [7], requestsPerMinute: 10, maxConcurrentRuns: 2 },
    BY,
  );
  expect(key).toMatch(/^am_[\w-]{43}$/);
  expect(await apiKeys.authenticate(key)).toEqual({
    id: entity.id,
    name: '报告 CI',
    workflowNames: ['a'],
    workflowIds: [7],
    requestsPerMinute: 10,
    maxConcurrentRuns: 2,
  });
  const rows = JSON.stringify(await database.dataSource.query('SELECT * FROM api_keys'));
  expect(rows).not.toContain(key);
  expect((await repository.find(entity.id))?.lastUsedAt).toBeInstanceOf(Date);
});

it('takes a key that is given, and refuses a taken name or key', async () => {
  await createApiKey.execute({ name: 'own', key: 'my-own-key-1' }, BY);
  expect(await apiKeys.authenticate('my-own-key-1')).toMatchObject({ name: 'own' });
  for (const body of [
    { name: 'own' },
    { name: 'another', key: 'my-own-key-1' },
    { name: 'configured' },
    { name: 'another', key: 'configured-key' },
  ]) {
    await expect(createApiKey.execute(body, BY)).rejects.toMatchObject({ code: 'CONFLICT' });
  }
});

it('revokes at once; the name is free again, the key is not', async () => {
  const { entity } = await createApiKey.execute({ name: 'short-lived', key: 'short-lived-key' }, BY);
  await revokeApiKey.execute(entity.id, BY);
  expect(await apiKeys.authenticate('short-lived-key')).toBeNull();
  await expect(revokeApiKey.execute(entity.id, BY)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(revokeApiKey.execute('not-a-uuid', BY)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(createApiKey.execute({ name: 'x', key: 'short-lived-key' }, BY)).rejects.toMatchObject({
    code: 'CONFLICT',
  });
  await createApiKey.execute({ name: 'short-lived' }, BY);
});

it('ends with the key’s time', async () => {
  await createApiKey.execute({ name: 'timed', key: 'timed-key', expiresAt: '2030-01-01T00:00:00+08:00' }, BY);
  expect(await apiKeys.authenticate('timed-key', new Date('2029-12-31T15:59:59Z'))).not.toBeNull();
  expect(await apiKeys.authenticate('timed-key', new Date('2029-12-31T16:00:00Z'))).toBeNull();
});

it('pages keys newest first, without revoked ones', async () => {
  const seen: string[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await repository.list({ after, limit: 2 });
    seen.push(...page.map(({ name }) => name));
    after = page.at(-1)?.id;
    if (page.length < 2) break;
  }
  expect(seen).toEqual(['timed', 'short-lived', 'own', '报告 CI']);
});

it('leaves a trail without the key itself', async () => {
  const rows = await database.dataSource.query<{ action: string; after: unknown }[]>(
    "SELECT action, after FROM audit_logs WHERE subject_type = 'api-key' ORDER BY seq",
  );
  expect(rows.map(({ action }) => action)).toEqual([
    'api-key.created',
    'api-key.created',
    'api-key.created',
    'api-key.revoked',
    'api-key.created',
    'api-key.created',
  ]);
  expect(JSON.stringify(rows)).not.toMatch(/am_|my-own-key-1|short-lived-key/);
});
