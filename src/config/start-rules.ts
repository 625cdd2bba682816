import { isIP } from 'node:net';
import type { ApiKeyConfig, AppConfig } from './app-config.js';
import type { ConfigProblem } from './config-error.js';
import { SecretUnavailableError, type SecretReader } from './secret-reader.js';

/** Published with the product, so known to everybody (decision 49). */
const DEMO_KEYS: ReadonlySet<string> = new Set(['demo-key', 'demo-admin-key']);

type KeySource = Pick<ApiKeyConfig, 'key' | 'keyEnv' | 'keyFile'>;

export function isLoopbackHost(host: string): boolean {
  if (host === 'localhost' || host === '::1' || host === '[::1]') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

/** What a schema cannot say: rules between keys, and what production or an open listener refuses. */
export function startProblems(config: AppConfig, secrets: SecretReader): ConfigProblem[] {
  return [
    ...keyProblems(config, secrets),
    ...clusterProblems(config),
    ...contextListenerProblems(config),
    ...bridgeProblems(config),
    ...referenceProblems(config),
  ];
}

/** Why a literal secret is refused here; undefined where it is allowed. */
function exposure({ environment, host }: AppConfig): string | undefined {
  if (environment === 'production') return 'in production';
  if (!isLoopbackHost(host)) return `on a listener that is not loopback (host ${host})`;
  return undefined;
}

function keyProblems(config: AppConfig, secrets: SecretReader): ConfigProblem[] {
  const exposed = exposure(config);
  const entries: [string, KeySource][] = [
    ...config.externalApi.keys.map((key, at): [string, KeySource] => [`external-api.keys[${at}]`, key]),
    ...config.admin.apiKeys.map((key, at): [string, KeySource] => [`admin.api-keys[${at}]`, key]),
  ];
  return entries.flatMap(([path, { key, keyEnv, keyFile }]) => {
    if ([key, keyEnv, keyFile].filter((one) => one !== undefined).length !== 1) {
      return [{ key: path, message: 'needs exactly one of key, keyEnv and keyFile' }];
    }
    if (exposed && key !== undefined) {
      const what = DEMO_KEYS.has(key) ? 'a demo key' : 'a literal secret';
      return [{ key: `${path}.key`, message: `${what} is refused ${exposed}; use keyEnv or keyFile` }];
    }
    const from = keyEnv !== undefined ? 'keyEnv' : 'keyFile';
    return secretProblem(secrets, { literal: key, env: keyEnv, file: keyFile }, `${path}.${from}`, exposed);
  });
}

function secretProblem(
  secrets: SecretReader,
  source: { literal?: string; env?: string; file?: string },
  key: string,
  exposed: string | undefined,
): ConfigProblem[] {
  try {
    const value = secrets.read(source, key);
    if (exposed && DEMO_KEYS.has(value)) return [{ key, message: `a demo key is refused ${exposed}` }];
    return [];
  } catch (error) {
    if (!(error instanceof SecretUnavailableError)) throw error;
    return [{ key, message: error.message.replace(`${key}: `, '') }];
  }
}

/** Who asks for a worker or for Redis must not get a server that does everything by itself. */
function clusterProblems({ redisUrl, role }: AppConfig): ConfigProblem[] {
  const message =
    'cluster mode is not in this version; leave it unset. Servers that share database-url share the runs';
  return [
    ...(redisUrl !== null ? [{ key: 'redis-url', message }] : []),
    ...(role !== 'all' ? [{ key: 'role', message }] : []),
  ];
}

/** The hosts that a bridge may be sent to (internal-context-query.md §9.2); of 127.0.0.0/8 it takes the first only. */
const BRIDGE_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1', '[::1]']);

function contextListenerProblems({ hermes }: AppConfig): ConfigProblem[] {
  const { listen } = hermes.contextQuery;
  if (listen === null) return [];
  const [, host = '', port = ''] = /^(.+):(\d{1,5})$/.exec(listen) ?? [];
  if (BRIDGE_HOSTS.has(host) && Number(port) <= 65_535) return [];
  const message =
    'must be a loopback host that bridges accept (127.0.0.1, [::1] or localhost) and a port, such as 127.0.0.1:2439';
  return [{ key: 'hermes.context-query.listen', message }];
}

function bridgeProblems({ hermes }: AppConfig): ConfigProblem[] {
  if (hermes.bridge.mode === 'managed' || hermes.bridge.url !== null) return [];
  return [{ key: 'hermes.bridge.url', message: 'is needed when hermes.bridge.mode is external' }];
}

/** References that can never be followed (decision 6); whether there is a value behind one is seen when it is used. */
function referenceProblems({ hermes, callbacks, credentials }: AppConfig): ConfigProblem[] {
  const references: [string, string | null][] = [
    ['hermes.llm.credential-ref', hermes.llm.credentialRef],
    ['hermes.bridge.credential-ref', hermes.bridge.credentialRef],
    ['callbacks.credential-ref', callbacks.credentialRef],
  ];
  return references.flatMap(([key, ref]) => {
    if (ref === null) return [];
    const credential = Object.hasOwn(credentials, ref) ? credentials[ref] : undefined;
    if (!credential) return [{ key, message: `names credentials.${ref}, which is not configured` }];
    if (!credential.scope) return [];
    return [{ key, message: `names credentials.${ref}, whose scope keeps it for agents` }];
  });
}
