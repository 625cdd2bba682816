import { z } from 'zod';
import { BRIDGE_ENV } from './protocol.js';

/** How this bridge process works, handed over by its parent at start. */
export interface BridgeSettings {
  readonly secret: string;
  readonly port: number;
  /** Exit when standard input closes. */
  readonly exitsWithParent: boolean;
  readonly llm: { readonly baseUrl: string; readonly apiKey: string | null } | null;
  /** Tool calls of one visit after which further ones are refused (§9.4). */
  readonly maxToolCalls: number;
  readonly allowDemo: boolean;
  readonly logLevel: string;
}

const environment = z.object({
  [BRIDGE_ENV.secret]: z.string().min(16, 'must be set to at least 16 characters'),
  [BRIDGE_ENV.port]: z.coerce.number().int().min(0).max(65_535).default(0),
  [BRIDGE_ENV.parent]: z.enum(['stdin', 'none']).default('none'),
  [BRIDGE_ENV.llmBaseUrl]: z.url({ protocol: /^https?$/ }).optional(),
  [BRIDGE_ENV.llmApiKey]: z.string().min(1).optional(),
  [BRIDGE_ENV.maxToolCalls]: z.coerce.number().int().positive().default(50),
  [BRIDGE_ENV.allowDemo]: z.enum(['true', 'false']).default('true'),
  [BRIDGE_ENV.logLevel]: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info'),
});

/**
 * Reads the settings and takes the secrets out of `env`, so that nothing started or dumped later can hold them.
 * Throws an Error that names every wrong variable, never its value.
 */
export function takeSettings(env: NodeJS.ProcessEnv): BridgeSettings {
  const parsed = environment.safeParse(env);
  for (const name of [BRIDGE_ENV.secret, BRIDGE_ENV.llmApiKey]) Reflect.deleteProperty(env, name);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new Error(`the bridge's environment is wrong: ${problems.join('; ')}`);
  }
  const values = parsed.data;
  const baseUrl = values[BRIDGE_ENV.llmBaseUrl];
  return {
    secret: values[BRIDGE_ENV.secret],
    port: values[BRIDGE_ENV.port],
    exitsWithParent: values[BRIDGE_ENV.parent] === 'stdin',
    llm: baseUrl ? { baseUrl, apiKey: values[BRIDGE_ENV.llmApiKey] ?? null } : null,
    maxToolCalls: values[BRIDGE_ENV.maxToolCalls],
    allowDemo: values[BRIDGE_ENV.allowDemo] === 'true',
    logLevel: values[BRIDGE_ENV.logLevel],
  };
}
