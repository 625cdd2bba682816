import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NestFactory } from '@nestjs/core';
import { ConfigService } from '@nestjs/config';
import { APP_CONFIG, type AppConfig } from './app-config.js';
import { ConfigError } from './config-error.js';
import { AppConfigModule } from './config.module.js';
import { loadConfig } from './load-config.js';

describe('loadConfig', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'config-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const file = (name: string, text: string): string => {
    const at = path.join(directory, name);
    writeFileSync(at, text);
    return at;
  };
  const load = (environment: Record<string, string> = {}): AppConfig => loadConfig(environment).config;
  const refusal = (environment: Record<string, string>): ConfigError => {
    try {
      load(environment);
    } catch (error) {
      if (error instanceof ConfigError) return error;
      throw error;
    }
    throw new Error('the configuration was accepted');
  };

  it('has a default for every key and the demo keys in development', () => {
    const config = load();
    expect(config).toMatchObject({
      environment: 'development',
      host: '127.0.0.1',
      port: 2438,
      databaseUrl: null,
    });
    expect(config.http.bodyLimit).toBe(10 * 1024 * 1024);
    expect(config.hermes.contextQuery.tokenTtlSeconds).toBe(120);
    expect(config.externalApi.keys).toEqual([
      { name: 'demo', key: 'demo-key', workflowNames: [], workflowIds: [] },
    ]);
  });

  it('lays CONFIG_FILE over the files and the environment over all', () => {
    const CONFIG_FILE = file(
      'own.yaml',
      'hermes:\n  context-query:\n    token-ttl-seconds: 7\n    sliding: false\nport: 1\n',
    );
    expect(load({ CONFIG_FILE }).hermes.contextQuery).toMatchObject({ tokenTtlSeconds: 7, sliding: false });
    const config = load({ CONFIG_FILE, HERMES_CONTEXT_QUERY_TOKEN_TTL_SECONDS: '8.5', PORT: '0' });
    expect(config.hermes.contextQuery).toMatchObject({ tokenTtlSeconds: 8.5, sliding: false, enabled: true });
    expect(config.port).toBe(0);
  });

  it('reads numbers, booleans, sizes, null, lists, records and sections from the environment', () => {
    const config = load({
      HTTP_BODY_LIMIT: '2kb',
      EXTERNAL_API_LIMITS_FILE_BYTES: '77',
      HERMES_CONTEXT_QUERY_SLIDING: 'false',
      HERMES_CONTEXT_QUERY_LISTEN: 'null',
      ENGINE_HTTP_ALLOWED_HOSTS: '["a", "b:80"]',
      EXTERNAL_API_KEYS: '[{"name":"ci","key":"k1","workflowNames":["a"]}]',
      CREDENTIALS:
        '{"My-Ref": {"provider": "dify", "env": "HERMES_ANYTHING", "baseUrl": "https://x.test/v1"}}',
      HERMES_LLM: '{"base-url": "https://llm.test"}',
      HERMES_ANYTHING: 'secret',
      DATABASE_URL: '',
      LOG_LEVEL: 'debug',
      ROLE: 'all',
    });
    expect(config.http.bodyLimit).toBe(2048);
    expect(config.externalApi.limits.fileBytes).toBe(77);
    expect(config.hermes.contextQuery).toMatchObject({ sliding: false, listen: null });
    expect(config.engine.http.allowedHosts).toEqual(['a', 'b:80']);
    expect(config.externalApi.keys).toMatchObject([{ name: 'ci', key: 'k1', workflowNames: ['a'] }]);
    expect(config.credentials['My-Ref']).toMatchObject({ provider: 'dify', baseUrl: 'https://x.test/v1' });
    expect(config.hermes.llm).toEqual({ baseUrl: 'https://llm.test', model: null, credentialRef: null });
    expect(config).toMatchObject({ databaseUrl: null, logLevel: 'debug' });
  });

  it.each(['10xb', '0', '0kb', '-5', '1.5', '1.5mb', 'many', '99999999999gb', '10 mb'])(
    'says what sizes are taken in place of %p',
    (HTTP_BODY_LIMIT) => {
      expect(refusal({ HTTP_BODY_LIMIT }).problems).toEqual([
        {
          key: 'http.body-limit',
          message:
            'must be a whole number of bytes from 1 on, or one with b, kb, mb or gb, such as 512kb or 10mb',
          source: 'HTTP_BODY_LIMIT',
        },
      ]);
    },
  );

  it('leaves no reason for a refusal unsaid', () => {
    const CONFIG_FILE = file('bare.yaml', 'http: {body-limit: [1]}\n');
    const CREDENTIALS = '{"a": {"provider": "p", "env": "V", "rotatedAt": "soon"}}';
    const { message } = refusal({ CONFIG_FILE, CREDENTIALS });
    expect(message).toContain('http.body-limit: must be a whole number of bytes');
    expect(message).toContain('credentials.a.rotatedAt: must be an ISO-8601 date or time');
  });

  it('names every bad key of every source in one message, in the spelling of its author, and shows no value', () => {
    const CONFIG_FILE = file(
      'bad.yaml',
      [
        'no-such-section: {x: 1}',
        'hermes:',
        '  context-query: {token-ttl-seconds: soon, tokens: 3}',
        'external-api:',
        '  keys: [{name: a, key: hidden-value, workflowNames: all, nmae: b}]',
        'credentials: {ref: {provider: 5}}',
      ].join('\n'),
    );
    const { message } = refusal({
      CONFIG_FILE,
      PORT: '70000',
      ENGINE_RUN_CONCURRENCY: 'many',
      ENGINE_RUN_CONCURENCY: '3',
      CALLBACKS_ALLOWED_HOSTS: '[hidden-value',
    });
    for (const part of [
      `no-such-section: is not a known key (${CONFIG_FILE})`,
      'hermes.context-query.token-ttl-seconds: expected number',
      'hermes.context-query.tokens: is not a known key',
      'external-api.keys[0].workflowNames: expected array',
      'external-api.keys[0].nmae: is not a known key',
      'credentials.ref.provider: expected string',
      'port: ',
      '(PORT)',
      'engine.run-concurrency: expected number, received string (ENGINE_RUN_CONCURRENCY)',
      'ENGINE_RUN_CONCURENCY: is an environment variable that overrides no known key',
      'callbacks.allowed-hosts: is not valid JSON (CALLBACKS_ALLOWED_HOSTS)',
    ]) {
      expect(message).toContain(part);
    }
    expect(message).not.toContain('hidden-value');
    expect(message).not.toContain('soon');
  });

  it('leaves foreign variables alone', () => {
    expect(() =>
      load({
        HTTP_PROXY: 'http://p',
        ADMIN_EMAIL: 'a@b',
        CREDENTIALS_DIRECTORY: '/run',
        HERMES_PORT: 'tcp://1.2.3.4:80',
        ENGINE_SERVICE_HOST: '1.2.3.4',
        PATH: '/bin',
      }),
    ).not.toThrow();
  });

  it.each([
    ['a file that is missing', 'none.yaml', undefined, /none\.yaml: cannot be read/],
    ['broken YAML', 'broken.yaml', 'a: [1', /broken\.yaml: is not valid YAML/],
    ['a list', 'list.yaml', '- 1', /list\.yaml: must hold keys and values/],
    [
      'an unknown key of a prototype',
      'proto.yaml',
      '__proto__: {polluted: true}',
      /__proto__: is not a known key/,
    ],
    ['a key given in both spellings', 'twice.yaml', 'data-dir: a\ndataDir: b', /dataDir: is given twice/],
    ['the environment as a key', 'env.yaml', 'environment: production', /environment: is not a known key/],
  ])('refuses %s', (_what, name, text, expected) => {
    const CONFIG_FILE = text === undefined ? path.join(directory, name) : file(name, text);
    expect(refusal({ CONFIG_FILE }).message).toMatch(expected);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('refuses an unknown NODE_ENV', () => {
    expect(refusal({ NODE_ENV: 'staging' }).message).toMatch(/NODE_ENV: must be/);
  });

  it('starts in production without any key, and with keys by reference', () => {
    expect(load({ NODE_ENV: 'production' })).toMatchObject({
      environment: 'production',
      externalApi: { keys: [] },
    });
    const keyFile = file('key', 'from-a-file\n');
    const EXTERNAL_API_KEYS = JSON.stringify([
      { name: 'a', keyFile },
      { name: 'b', keyEnv: 'OWN_KEY' },
    ]);
    expect(load({ NODE_ENV: 'production', EXTERNAL_API_KEYS, OWN_KEY: 'x' }).externalApi.keys).toHaveLength(
      2,
    );
  });

  it.each([
    [
      'demo keys in production',
      { NODE_ENV: 'production', EXTERNAL_API_KEYS: '[{"name":"a","key":"demo-key"}]' },
      /external-api\.keys\[0\]\.key: a demo key is refused in production/,
    ],
    [
      'demo keys in production by reference',
      { NODE_ENV: 'production', EXTERNAL_API_KEYS: '[{"name":"a","keyEnv":"K"}]', K: 'demo-key' },
      /keys\[0\]\.keyEnv: a demo key/,
    ],
    [
      'literal secrets in production',
      { NODE_ENV: 'production', ADMIN_API_KEYS: '[{"name":"a","key":"own","roles":["admin"]}]' },
      /admin\.api-keys\[0\]\.key: a literal secret is refused in production/,
    ],
    [
      'demo keys on an open listener',
      { HOST: '0.0.0.0' },
      /external-api\.keys\[0\]\.key: a demo key is refused on a listener/,
    ],
    [
      'a variable that is not set',
      { EXTERNAL_API_KEYS: '[{"name":"a","keyEnv":"NOT_SET"}]' },
      /keys\[0\]\.keyEnv: the environment variable NOT_SET is not set/,
    ],
    [
      'a file that is missing',
      { EXTERNAL_API_KEYS: '[{"name":"a","keyFile":"/no/such"}]' },
      /keys\[0\]\.keyFile: the file \/no\/such cannot be read/,
    ],
    [
      'two sources of one key',
      { EXTERNAL_API_KEYS: '[{"name":"a","key":"x","keyEnv":"PATH"}]' },
      /keys\[0\]: needs exactly one/,
    ],
    [
      'cluster mode, which is not there',
      { REDIS_URL: 'redis://127.0.0.1', DATABASE_URL: 'postgres://127.0.0.1/x', ROLE: 'worker' },
      /redis-url: cluster mode is not in this version[^]*role: cluster mode is not in this version/,
    ],
    [
      'a context listener that is not loopback',
      { HERMES_CONTEXT_QUERY_LISTEN: '0.0.0.0:1' },
      /hermes\.context-query\.listen: must be a loopback/,
    ],
    [
      'a context listener that bridges refuse',
      { HERMES_CONTEXT_QUERY_LISTEN: '127.0.0.2:1' },
      /hermes\.context-query\.listen: must be a loopback host that bridges accept/,
    ],
    [
      'an external bridge without a URL',
      { HERMES_BRIDGE_MODE: 'external' },
      /hermes\.bridge\.url: is needed/,
    ],
    ...['hermes.llm.credential-ref', 'hermes.bridge.credential-ref', 'callbacks.credential-ref'].flatMap(
      (key): [string, Record<string, string>, string][] => {
        const variable = key.replaceAll(/[.-]/g, '_').toUpperCase();
        const CREDENTIALS = '{"mine": {"provider": "p", "env": "V", "scope": ["writer"]}}';
        return [
          [
            `${key} that points nowhere`,
            { [variable]: 'gone' },
            `${key}: names credentials.gone, which is not`,
          ],
          [
            `${key} that is an object's own`,
            { [variable]: 'toString' },
            `${key}: names credentials.toString`,
          ],
          [
            `${key} with a scope`,
            { [variable]: 'mine', CREDENTIALS },
            `${key}: names credentials.mine, whose scope`,
          ],
        ];
      },
    ),
  ])('refuses %s', (_what, environment, expected) => {
    expect(refusal(environment as Record<string, string>).message).toMatch(expected);
  });

  it('takes a reference to a credential, and an endpoint that wants no key', () => {
    const CREDENTIALS = '{"mine": {"provider": "p", "env": "V"}}';
    const HERMES_LLM_CREDENTIAL_REF = 'mine';
    expect(load({ HERMES_LLM_CREDENTIAL_REF, CREDENTIALS }).hermes.llm.credentialRef).toBe('mine');
    const HERMES_LLM_BASE_URL = 'http://127.0.0.1:11434/v1';
    expect(load({ HERMES_LLM_BASE_URL }).hermes.llm.credentialRef).toBeNull();
  });

  it('takes a password of the database from the environment only, in production', () => {
    const CONFIG_FILE = file('db.yaml', 'database-url: postgres://u:hidden@db/x\n');
    const { message } = refusal({ NODE_ENV: 'production', CONFIG_FILE });
    expect(message).toContain(
      'database-url: a password is refused in a file in production; use DATABASE_URL',
    );
    expect(message).not.toContain('hidden');
    expect(load({ NODE_ENV: 'production', DATABASE_URL: 'postgres://u:p@db/x' }).databaseUrl).toMatch(/db/);
    expect(load({ CONFIG_FILE }).databaseUrl).toMatch(/db/);
  });

  it('is provided through Nest', async () => {
    const loaded = loadConfig({ PORT: '5' });
    const nest = await NestFactory.createApplicationContext(AppConfigModule.forRoot(loaded), {
      logger: false,
    });
    expect(nest.get<AppConfig>(APP_CONFIG)).toBe(loaded.config);
    expect(nest.get(ConfigService).get('hermes.contextQuery.tokenTtlSeconds')).toBe(120);
    expect(Object.isFrozen(loaded.config.hermes.llm)).toBe(true);
    await nest.close();
  });
});
