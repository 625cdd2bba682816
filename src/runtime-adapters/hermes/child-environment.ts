import { BRIDGE_ENV } from '../../bridge/protocol.js';

/**
 * What a bridge may see of this process's environment: how to find programs, proxies and certificates, and in
 * which language to speak. Everything else, secrets above all, stays here.
 */
const PASSED_ON = [
  'PATH',
  'HOME',
  'TMPDIR',
  'LANG',
  'LC_ALL',
  'TZ',
  'SystemRoot',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'NODE_USE_ENV_PROXY',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

export interface ChildSettings {
  readonly llm: { readonly baseUrl: string; readonly apiKey: string | null } | null;
  readonly maxToolCalls: number;
  readonly allowDemo: boolean;
  readonly logLevel: string;
}

/** The environment of a managed bridge. */
export function childEnvironment(
  settings: ChildSettings,
  secret: string,
  own: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const passed = PASSED_ON.filter((name) => own[name] !== undefined).map((name) => [name, own[name]]);
  const { llm } = settings;
  return {
    ...(Object.fromEntries(passed) as NodeJS.ProcessEnv),
    [BRIDGE_ENV.secret]: secret,
    [BRIDGE_ENV.port]: '0',
    [BRIDGE_ENV.parent]: 'stdin',
    [BRIDGE_ENV.maxToolCalls]: String(settings.maxToolCalls),
    [BRIDGE_ENV.allowDemo]: String(settings.allowDemo),
    [BRIDGE_ENV.logLevel]: settings.logLevel,
    ...(llm ? { [BRIDGE_ENV.llmBaseUrl]: llm.baseUrl } : {}),
    ...(llm?.apiKey ? { [BRIDGE_ENV.llmApiKey]: llm.apiKey } : {}),
  };
}
