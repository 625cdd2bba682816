import type { AppConfig } from '../../config/app-config.js';
import { SecretReader } from '../../config/secret-reader.js';
import { Credentials, SecretRedactor } from '../../credentials/index.js';
import { childSettings, externalSecret } from './bridge-credentials.js';

const credentials = new Credentials(
  { credentials: { llm: { provider: 'any-word', env: 'LLM_KEY' }, gone: { provider: 'x', env: 'NOT_SET' } } },
  new SecretReader({ LLM_KEY: 'sk-1' }),
  new SecretRedactor(),
);

function config(
  llm: Partial<AppConfig['hermes']['llm']>,
  more: { environment?: AppConfig['environment']; credentialRef?: string | null } = {},
): Parameters<typeof childSettings>[0] {
  const { environment = 'development', credentialRef = null } = more;
  return {
    environment,
    logLevel: 'info',
    hermes: {
      llm: { baseUrl: null, model: null, credentialRef: null, ...llm },
      bridge: { mode: 'managed', url: null, credentialRef, maxToolCallsPerVisit: 9 },
    } as AppConfig['hermes'],
  };
}

describe('childSettings', () => {
  it('hands over the endpoint with its key', async () => {
    expect(
      await childSettings(config({ baseUrl: 'http://x/v1', credentialRef: 'llm' }), credentials),
    ).toEqual({
      llm: { baseUrl: 'http://x/v1', apiKey: 'sk-1' },
      llmProblem: null,
      maxToolCalls: 9,
      allowDemo: true,
      logLevel: 'info',
    });
  });

  it.each([
    ['no endpoint', {}, /hermes\.llm\.base-url/],
    ['an unknown credential', { baseUrl: 'http://x/v1', credentialRef: 'nobody' }, /credential-ref.*nobody/],
    ['a credential without value', { baseUrl: 'http://x/v1', credentialRef: 'gone' }, /NOT_SET/],
  ])('with %s leaves the models off and names the key to fix', async (_name, llm, problem) => {
    const settings = await childSettings(config(llm), credentials);
    expect(settings.llm).toBeNull();
    expect(settings.llmProblem).toMatch(problem);
  });

  it('needs no key where none is configured', async () => {
    const settings = await childSettings(config({ baseUrl: 'http://127.0.0.1:1/v1' }), credentials);
    expect(settings).toMatchObject({ llm: { apiKey: null }, llmProblem: null });
  });

  it('allows the demo model outside production only', async () => {
    const allowed = async (environment: AppConfig['environment']): Promise<boolean> =>
      (await childSettings(config({}, { environment }), credentials)).allowDemo;
    expect([await allowed('production'), await allowed('test'), await allowed('development')]).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe('externalSecret', () => {
  it('is the value of the credential', async () => {
    expect(await externalSecret(config({}, { credentialRef: 'llm' }), credentials)).toBe('sk-1');
  });
  it.each([
    [null, /hermes\.bridge\.credential-ref is not set/],
    ['nobody', /hermes\.bridge\.credential-ref.*nobody/],
    ['gone', /hermes\.bridge\.credential-ref.*NOT_SET/],
  ])('without one (%s) names the key to fix', async (credentialRef, message) => {
    await expect(externalSecret(config({}, { credentialRef }), credentials)).rejects.toThrow(message);
  });
});
