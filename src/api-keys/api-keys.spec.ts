import { Logger } from '@nestjs/common';
import type { AppConfig } from '../config/app-config.js';
import { SecretReader } from '../config/secret-reader.js';
import { mayUse } from './api-key-identity.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import type { ApiKeyRepository } from './api-key.repository.js';
import { ApiKeys } from './api-keys.js';
import { keyDigest } from './key-digest.js';

class StoredKeys {
  readonly used: Date[] = [];
  constructor(private readonly keys: Partial<ApiKeyEntity>[]) {}
  findByHash(hash: string) {
    return Promise.resolve(this.keys.find(({ keyHash }) => keyHash === hash) ?? null);
  }
  markUsed(_id: string, at: Date) {
    this.used.push(at);
    return Promise.resolve();
  }
}

const scopes = { workflowNames: [], workflowIds: [] };
const stored = {
  id: '5c7d5f0e-6a43-4f0a-9d0b-2f4f2c9a0001',
  name: 'stored',
  keyHash: keyDigest('stored-key').toString('hex'),
  workflowNames: ['a'],
  workflowIds: [],
  requestsPerMinute: 5,
  maxConcurrentRuns: null,
  expiresAt: null,
  revokedAt: null,
};

function apiKeys(entities: Partial<ApiKeyEntity>[] = [stored]) {
  const keys = [
    { name: 'literal', key: 'literal-key', ...scopes },
    { name: 'from-env', keyEnv: 'A_KEY', ...scopes, maxConcurrentRuns: 2 },
    { name: 'gone', keyEnv: 'NOT_SET', ...scopes },
    { name: 'old', key: 'old-key', ...scopes, expiresAt: '2026-01-01T00:00:00Z' },
  ];
  const repository = new StoredKeys(entities);
  const config = { externalApi: { keys } } as unknown as AppConfig;
  const subject = new ApiKeys(
    config,
    new SecretReader({ A_KEY: 'env-key' }),
    repository as unknown as ApiKeyRepository,
  );
  return { subject, repository };
}

beforeAll(() => {
  Logger.overrideLogger(false);
});

describe('ApiKeys', () => {
  it('knows configured keys, literal and from the environment, and stored ones', async () => {
    const { subject } = apiKeys();
    expect(await subject.authenticate('literal-key')).toMatchObject({ name: 'literal', id: null });
    expect(await subject.authenticate('env-key')).toMatchObject({ name: 'from-env', maxConcurrentRuns: 2 });
    expect(await subject.authenticate('stored-key')).toEqual({
      id: stored.id,
      name: 'stored',
      workflowNames: ['a'],
      workflowIds: [],
      requestsPerMinute: 5,
      maxConcurrentRuns: null,
    });
    expect(subject.failedAttempts).toBe(0);
  });

  it('refuses and counts missing, unknown, over-long, expired and revoked keys', async () => {
    const { subject } = apiKeys([{ ...stored, revokedAt: new Date() }]);
    const refused = [undefined, '', 'literal-key ', 'LITERAL-KEY', 'x'.repeat(513), 'old-key', 'stored-key'];
    for (const key of refused) expect(await subject.authenticate(key)).toBeNull();
    expect(subject.failedAttempts).toBe(refused.length);
  });

  it('takes a key until the instant at which it expires', async () => {
    const { subject } = apiKeys();
    expect(await subject.authenticate('old-key', new Date('2025-12-31T23:59:59.999Z'))).not.toBeNull();
    expect(await subject.authenticate('old-key', new Date('2026-01-01T00:00:00.000Z'))).toBeNull();
  });

  it('writes the last use at most once a minute', async () => {
    const { subject, repository } = apiKeys();
    const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds));
    for (const seconds of [0, 1, 59, 60, 61, 121]) await subject.authenticate('stored-key', at(seconds));
    expect(repository.used).toEqual([at(0), at(60), at(121)]);
  });
});

describe('mayUse', () => {
  const workflow = { id: '12', name: 'report' };
  it.each([
    [[], [], true],
    [['report'], [], true],
    [['Report', 'repor'], [], false],
    [[], [12], true],
    [[], [1, 2], false],
    [['other'], [12], true],
  ])('names %j and ids %j: %s', (workflowNames, workflowIds, allowed) => {
    expect(mayUse({ workflowNames, workflowIds }, workflow)).toBe(allowed);
  });
});
