import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { appConfigSchema, type AppConfig } from './app-config.js';
import { ConfigError, type ConfigProblem } from './config-error.js';
import { ConfigLayers } from './config-layers.js';
import { addEnvironment, type Environment } from './environment-overrides.js';
import { environmentName, yamlPath } from './key-names.js';
import { SecretReader } from './secret-reader.js';
import { startProblems } from './start-rules.js';

/** `config/` of the project, from `src/config` as well as from `dist/config`. */
const CONFIG_DIRECTORY = path.resolve(import.meta.dirname, '../../config');

/** `environment` comes from NODE_ENV alone: it chooses the files, so no file may change it. */
const fileSchema = appConfigSchema.omit({ environment: true });

export interface LoadedConfig {
  readonly config: AppConfig;
  readonly secrets: SecretReader;
}

/**
 * `config/default.yaml` < `config/$NODE_ENV.yaml` < CONFIG_FILE < environment, validated once.
 * Throws ConfigError with every bad key of all of them.
 */
export function loadConfig(
  environment: Environment = process.env,
  configDirectory: string = CONFIG_DIRECTORY,
): LoadedConfig {
  const mode = z.enum(['development', 'production', 'test']).safeParse(environment.NODE_ENV || 'development');
  if (!mode.success) {
    throw new ConfigError([{ key: 'NODE_ENV', message: 'must be development, production or test' }]);
  }
  const layers = new ConfigLayers(fileSchema);
  for (const file of configFiles(configDirectory, mode.data, environment.CONFIG_FILE)) {
    layers.add(readYaml(file, layers.problems), file);
  }
  addEnvironment(layers, fileSchema, environment);
  const parsed = fileSchema.safeParse(layers.tree);
  const problems = [...layers.problems, ...(parsed.success ? [] : schemaProblems(parsed.error, layers))];
  if (!parsed.success) throw new ConfigError(problems);
  const config: AppConfig = { environment: mode.data, ...parsed.data };
  const secrets = new SecretReader({ ...environment });
  problems.push(...startProblems(config, secrets), ...passwordProblems(config, layers));
  if (problems.length > 0) throw new ConfigError(problems);
  return { config: deepFreeze(config), secrets };
}

/** Decision 5: files hold no secrets in production; the environment may. */
function passwordProblems(config: AppConfig, layers: ConfigLayers): ConfigProblem[] {
  if (config.environment !== 'production') return [];
  return (['databaseUrl', 'redisUrl'] as const).flatMap((key) => {
    const url = config[key];
    const variable = environmentName([key]);
    const { key: written, source } = layers.describe([key]);
    if (url === null || source === variable || !URL.canParse(url) || new URL(url).password === '') return [];
    return [
      { key: written, message: `a password is refused in a file in production; use ${variable}`, source },
    ];
  });
}

function configFiles(directory: string, mode: string, extra: string | undefined): string[] {
  const own = path.join(directory, `${mode}.yaml`);
  return [
    path.join(directory, 'default.yaml'),
    ...(existsSync(own) ? [own] : []),
    ...(extra ? [path.resolve(extra)] : []),
  ];
}

function readYaml(file: string, problems: ConfigProblem[]): unknown {
  try {
    const value: unknown = parse(readFileSync(file, 'utf8'), { prettyErrors: false });
    if (value === null || value === undefined) return {};
    if (typeof value === 'object' && !Array.isArray(value)) return value;
    problems.push({ key: file, message: 'must hold keys and values' });
  } catch (error) {
    const reason = error instanceof YAMLParseError ? `is not valid YAML: ${error.message}` : 'cannot be read';
    problems.push({ key: file, message: reason });
  }
  return {};
}

function schemaProblems(error: z.ZodError, layers: ConfigLayers): ConfigProblem[] {
  return error.issues.map((issue) => {
    const { key, source } = layers.describe(issue.path);
    const missing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
    const message = missing ? 'is missing' : issue.message.replace(/^Invalid input: /, '');
    return { key: key || yamlPath(issue.path), message, source };
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
