import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppConfig } from '../config/app-config.js';
import { SecretReader } from '../config/secret-reader.js';
import { CredentialError } from './credential-error.js';
import { Credentials } from './credentials.js';
import { SecretRedactor } from './secret-redactor.js';

const ENVIRONMENT = {
  DIFY_KEY: 'app-canary-0001',
  TG_TOKEN: '123:telegram',
  EMPTY: '',
  BROKEN: 'key\r\nX-Evil: 1',
};

function credentialsOf(configured: AppConfig['credentials']) {
  const redactor = new SecretRedactor();
  return {
    redactor,
    credentials: new Credentials({ credentials: configured }, new SecretReader(ENVIRONMENT), redactor),
  };
}

const dify = { provider: 'dify', env: 'DIFY_KEY', baseUrl: 'http://127.0.0.1:9/v1/' };

describe('Credentials', () => {
  it('gives the value, and the base URL without its trailing slash', async () => {
    const { credentials, redactor } = credentialsOf({ prod: dify });
    expect(await credentials.resolve('prod', { provider: 'dify', agentKey: 'a' })).toEqual({
      value: 'app-canary-0001',
      parts: {},
      baseUrl: 'http://127.0.0.1:9/v1',
    });
    expect(redactor.redact('it is app-canary-0001.')).toBe('it is [redacted].');
  });

  it('gives the parts of a channel', async () => {
    const { credentials } = credentialsOf({
      bot: { provider: 'telegram', parts: { token: { env: 'TG_TOKEN' } } },
    });
    const { parts } = await credentials.resolve('bot', { provider: 'telegram', agentKey: null });
    expect(parts).toEqual({ token: '123:telegram' });
  });

  it.each([
    ['unknown', 'nope', {}, 'credentials.nope: is not configured'],
    ['unknown', '__proto__', {}, 'credentials.__proto__: is not configured'],
    ['wrong_provider', 'x', { provider: 'new-api' }, 'credentials.x.provider: is new-api, not dify'],
    ['out_of_scope', 'x', { scope: ['b'] }, 'credentials.x.scope: does not include agent a'],
    ['no_value', 'x', { env: 'UNSET' }, 'credentials.x: the environment variable UNSET is not set'],
    ['no_value', 'x', { env: 'EMPTY' }, 'credentials.x: the environment variable EMPTY is not set'],
    ['no_value', 'x', { env: 'BROKEN' }, 'credentials.x: holds control characters'],
    ['no_value', 'x', { env: undefined }, 'credentials.x: needs exactly one source of its secret'],
    ['no_base_url', 'x', { baseUrl: undefined }, 'credentials.x.baseUrl: is missing'],
  ])('fails closed: %s', async (reason, ref, change, message) => {
    const { credentials } = credentialsOf({ x: { ...dify, ...change } });
    const refusal = credentials.resolve(ref, { provider: 'dify', agentKey: 'a' });
    await expect(refusal).rejects.toThrow(CredentialError);
    await expect(refusal).rejects.toMatchObject({ reason, message });
  });

  it('refuses a scoped credential to a call of no agent', async () => {
    const { credentials } = credentialsOf({ x: { ...dify, scope: ['a'] } });
    await expect(credentials.resolve('x', { provider: 'dify', agentKey: null })).rejects.toMatchObject({
      reason: 'out_of_scope',
    });
    expect(credentials.problemWith('x', { provider: 'dify', agentKey: 'a' })).toBeNull();
  });

  it('needs no secret for AgentScope, but reads one that is named', async () => {
    const { credentials } = credentialsOf({
      open: { provider: 'agentscope', baseUrl: 'http://h' },
      closed: { provider: 'agentscope', baseUrl: 'http://h', env: 'UNSET' },
    });
    const use = { provider: 'agentscope', agentKey: null };
    expect(await credentials.resolve('open', use)).toMatchObject({ value: '' });
    await expect(credentials.resolve('closed', use)).rejects.toMatchObject({ reason: 'no_value' });
  });

  it('lists what is usable without any value', () => {
    const { credentials } = credentialsOf({
      good: { ...dify, scope: ['a'], environment: 'prod', rotatedAt: '2026-01-01' },
      bad: { ...dify, env: 'UNSET' },
    });
    const list = credentials.list();
    expect(list).toEqual([
      {
        ref: 'good',
        provider: 'dify',
        scope: ['a'],
        environment: 'prod',
        rotatedAt: '2026-01-01',
        usable: true,
        problem: null,
      },
      expect.objectContaining({
        ref: 'bad',
        usable: false,
        problem: expect.stringContaining('UNSET') as string,
      }),
    ]);
    expect(JSON.stringify(list)).not.toContain('canary');
  });

  describe('from a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
    afterAll(() => {
      rmSync(folder, { recursive: true });
    });

    it('reads a rotated value without a restart and still redacts the old one', async () => {
      const file = join(folder, 'key');
      const { credentials, redactor } = credentialsOf({ x: { ...dify, env: undefined, file } });
      const use = { provider: 'dify', agentKey: 'a' };
      writeFileSync(file, 'app-first-value\n');
      expect(await credentials.resolve('x', use)).toMatchObject({ value: 'app-first-value' });
      writeFileSync(file, 'app-second-value\n');
      expect(await credentials.resolve('x', use)).toMatchObject({ value: 'app-second-value' });
      expect(redactor.redact('app-first-value app-second-value')).toBe('[redacted] [redacted]');
    });

    it('names the key when the file is gone', async () => {
      const { credentials } = credentialsOf({ x: { ...dify, env: undefined, file: join(folder, 'none') } });
      await expect(credentials.resolve('x', { provider: 'dify', agentKey: 'a' })).rejects.toThrow(
        /^credentials\.x: the file/,
      );
    });
  });
});
