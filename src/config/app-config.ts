import { z } from 'zod';

/** Injection token of the validated configuration: `@Inject(APP_CONFIG) config: AppConfig`. */
export const APP_CONFIG = Symbol('AppConfig');

const SIZE_UNITS = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const;

const SIZE = 'must be a whole number of bytes from 1 on, or one with b, kb, mb or gb, such as 512kb or 10mb';

/** A number of bytes from 1 on, given as a number or as `10mb`. */
const byteSize = z
  .union([z.number(), z.string()], SIZE)
  .transform((value) => (typeof value === 'number' ? value : bytesIn(value)))
  .refine((bytes) => Number.isSafeInteger(bytes) && bytes > 0, SIZE);

/** NaN for a text that is no size. */
function bytesIn(text: string): number {
  const [, amount, unit = ''] = /^(\d+)(b|kb|mb|gb)$/i.exec(text) ?? [];
  return Number(amount) * SIZE_UNITS[unit.toLowerCase() as keyof typeof SIZE_UNITS];
}

const secretSource = {
  key: z.string().min(1).optional(),
  keyEnv: z.string().min(1).optional(),
  keyFile: z.string().min(1).optional(),
};

/** A key of `/api/v1`; `key` literally, or from the environment, or from a file. */
const apiKey = z.strictObject({
  name: z.string().min(1).max(100),
  ...secretSource,
  workflowNames: z.array(z.string()).default([]),
  workflowIds: z.array(z.number().int().positive()).default([]),
  expiresAt: z.iso.datetime().optional(),
  requestsPerMinute: z.number().int().positive().optional(),
  maxConcurrentRuns: z.number().int().positive().optional(),
});

export const ADMIN_ROLES = ['viewer', 'editor', 'publisher', 'auditor', 'admin'] as const;
export type AdminRole = (typeof ADMIN_ROLES)[number];

const adminKey = z.strictObject({
  name: z.string().min(1).max(100),
  ...secretSource,
  roles: z.array(z.enum(ADMIN_ROLES)).min(1),
});

const secretPart = z.strictObject({ env: z.string().optional(), file: z.string().optional() });

/** A credential by reference (decision 5): where its value comes from, never the value. */
const credential = z.strictObject({
  provider: z.string().min(1),
  env: z.string().optional(),
  file: z.string().optional(),
  parts: z.record(z.string(), secretPart).optional(),
  baseUrl: z.url().optional(),
  consoleBaseUrl: z.url().optional(),
  scope: z.array(z.string()).optional(),
  environment: z.string().optional(),
  rotatedAt: z.union([z.iso.date(), z.iso.datetime()], 'must be an ISO-8601 date or time in UTC').optional(),
});

/**
 * The whole configuration. Keys are camel case here and kebab case in YAML; every key with its comment and
 * default stands in config/default.yaml. Unknown keys are refused.
 */
export const appConfigSchema = z.strictObject({
  environment: z.enum(['development', 'production', 'test']),
  host: z.string().min(1),
  port: z.number().int().min(0).max(65_535),
  dataDir: z.string().min(1),
  databaseUrl: z.string().nullable(),
  redisUrl: z.string().nullable(),
  role: z.enum(['all', 'api', 'worker']),
  logLevel: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  database: z.strictObject({ poolSize: z.number().int().min(2).max(100) }),
  http: z.strictObject({
    bodyLimit: byteSize,
    /** Depth of nesting a JSON body may have. */
    maxJsonDepth: z.number().int().positive(),
  }),
  externalApi: z.strictObject({
    keys: z.array(apiKey),
    limits: z.strictObject({
      fileBytes: byteSize,
      totalBytes: byteSize,
      files: z.number().int().positive(),
      fieldBytes: byteSize,
      variableBytes: byteSize,
    }),
    sse: z.strictObject({ heartbeatSeconds: z.number().positive() }),
  }),
  admin: z.strictObject({ apiKeys: z.array(adminKey) }),
  callbacks: z.strictObject({
    allowedHosts: z.array(z.string()),
    credentialRef: z.string().nullable(),
    maxAttempts: z.number().int().positive(),
  }),
  engine: z.strictObject({
    /** Nodes of one run that act at the same time, where its settings do not say. */
    runConcurrency: z.number().int().positive(),
    /** Runs this process executes at the same time. */
    maxActiveRuns: z.number().int().positive(),
    maxVisitsPerRun: z.number().int().positive(),
    leaseSeconds: z.number().positive(),
    sweepSeconds: z.number().positive(),
    /** Streamed text is gathered that long before it becomes an event. */
    streamMergeMillis: z.number().int().min(0),
    http: z.strictObject({ allowedHosts: z.array(z.string()) }),
    dispatch: z.strictObject({ lockSeconds: z.number().positive() }),
  }),
  hermes: z.strictObject({
    contextQuery: z.strictObject({
      enabled: z.boolean(),
      tokenTtlSeconds: z.number().positive(),
      cleanupIntervalSeconds: z.number().positive(),
      maxTokensPerVisit: z.number().int().positive(),
      sliding: z.boolean(),
      /** `host:port` on loopback, or null for the main port. */
      listen: z.string().nullable(),
      retentionMinutes: z.number().min(0),
      /** Text a visit's logs may hold in memory before the database answers for it. */
      logBytesPerVisit: byteSize,
      /** Estimated memory of all visits held; beyond it runs that ended go early. */
      memoryLimit: byteSize,
    }),
    bridge: z.strictObject({
      mode: z.enum(['managed', 'external']),
      url: z.url().nullable(),
      credentialRef: z.string().nullable(),
      maxToolCallsPerVisit: z.number().int().positive(),
    }),
    llm: z.strictObject({
      baseUrl: z.url().nullable(),
      model: z.string().nullable(),
      credentialRef: z.string().nullable(),
    }),
  }),
  credentials: z.record(z.string(), credential),
});

export type AppConfig = z.infer<typeof appConfigSchema>;
export type ApiKeyConfig = AppConfig['externalApi']['keys'][number];
export type AdminKeyConfig = AppConfig['admin']['apiKeys'][number];
export type CredentialConfig = AppConfig['credentials'][string];
