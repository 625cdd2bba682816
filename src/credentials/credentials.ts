import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { APP_CONFIG, type AppConfig, type CredentialConfig } from '../config/app-config.js';
import { SecretReader, SecretUnavailableError, type SecretSource } from '../config/secret-reader.js';
import { CredentialError } from './credential-error.js';
import { SecretRedactor } from './secret-redactor.js';

/** Whose servers need no secret of their callers: AgentScope Runtime knows no authentication. */
const WITHOUT_SECRET: readonly string[] = ['agentscope'];

/** What a call needs; held for the length of the call only. */
export interface ResolvedCredential {
  /** Empty where the credential has parts only, or where its provider needs no secret. */
  readonly value: string;
  readonly parts: Readonly<Record<string, string>>;
  /** Without a trailing slash. */
  readonly baseUrl: string;
}

/** Who asks: its provider must be the credential's, its agent within the credential's scope. */
export interface CredentialUse {
  readonly provider: string;
  /** Null for what no agent asks for (an inline node, a channel); a credential with a scope is then refused. */
  readonly agentKey: string | null;
}

/** What anybody may know of a credential: all but its value. */
export interface CredentialSummary {
  readonly ref: string;
  readonly provider: string;
  readonly scope: readonly string[] | null;
  readonly environment: string | null;
  readonly rotatedAt: string | null;
  readonly usable: boolean;
  /** Which key to fix where it is not usable. */
  readonly problem: string | null;
}

/**
 * Secrets by reference (decision 5). Values are read when they are asked for, so that a file that changed or was
 * replaced counts at once; each value handed out is registered for redaction first.
 */
@Injectable()
export class Credentials implements OnModuleInit {
  readonly #configured: AppConfig['credentials'];

  constructor(
    @Inject(APP_CONFIG) config: Pick<AppConfig, 'credentials'>,
    private readonly secrets: SecretReader,
    private readonly redactor: SecretRedactor,
  ) {
    this.#configured = config.credentials;
  }

  /** Makes every value known to the redactor before anything can quote one. */
  onModuleInit(): void {
    this.list();
  }

  /** @throws CredentialError when it is unknown, of another provider, out of scope, without value or base URL. */
  resolve(ref: string, use: CredentialUse): Promise<ResolvedCredential> {
    return Promise.resolve().then(() => this.#resolve(ref, use));
  }

  list(): CredentialSummary[] {
    return Object.entries(this.#configured).map(([ref, config]) => {
      const problem = this.#problemOf(ref, config);
      return {
        ref,
        provider: config.provider,
        scope: config.scope ?? null,
        environment: config.environment ?? null,
        rotatedAt: config.rotatedAt ?? null,
        usable: problem === null,
        problem,
      };
    });
  }

  /** Why this use would be refused, naming the key to fix; null when nothing is wrong. For checks before a publish. */
  problemWith(ref: string, use: CredentialUse): string | null {
    try {
      this.#resolve(ref, use);
      return null;
    } catch (error) {
      if (error instanceof CredentialError) return error.message;
      throw error;
    }
  }

  /** The allow-listed base of console links; null where none is configured. */
  consoleBaseUrl(ref: string): string | null {
    return this.#entry(ref)?.consoleBaseUrl?.replace(/\/+$/, '') ?? null;
  }

  #resolve(ref: string, use: CredentialUse): ResolvedCredential {
    const key = `credentials.${ref}`;
    const config = this.#entry(ref);
    if (!config) throw new CredentialError('unknown', key, 'is not configured');
    if (config.provider !== use.provider) {
      throw new CredentialError(
        'wrong_provider',
        `${key}.provider`,
        `is ${config.provider}, not ${use.provider}`,
      );
    }
    if (config.scope && (use.agentKey === null || !config.scope.includes(use.agentKey))) {
      const who = use.agentKey === null ? 'a call without an agentKey' : `agent ${use.agentKey}`;
      throw new CredentialError('out_of_scope', `${key}.scope`, `does not include ${who}`);
    }
    return this.#valuesOf(ref, config);
  }

  #problemOf(ref: string, config: CredentialConfig): string | null {
    try {
      this.#valuesOf(ref, config);
      return null;
    } catch (error) {
      if (error instanceof CredentialError) return error.message;
      throw error;
    }
  }

  #valuesOf(ref: string, config: CredentialConfig): ResolvedCredential {
    const key = `credentials.${ref}`;
    const parts: Record<string, string> = {};
    for (const [name, source] of Object.entries(config.parts ?? {})) {
      parts[name] = this.#read(source, `${key}.parts.${name}`);
    }
    const hasOwnSource = config.env !== undefined || config.file !== undefined;
    const needsOwnSource = Object.keys(parts).length === 0 && !WITHOUT_SECRET.includes(config.provider);
    const value = hasOwnSource || needsOwnSource ? this.#read(config, key) : '';
    if (config.baseUrl === undefined && NEEDS_BASE_URL.includes(config.provider)) {
      throw new CredentialError('no_base_url', `${key}.baseUrl`, 'is missing');
    }
    return { value, parts, baseUrl: config.baseUrl?.replace(/\/+$/, '') ?? '' };
  }

  #read(source: SecretSource, key: string): string {
    try {
      const value = this.secrets.read({ env: source.env, file: source.file }, key);
      // A line break would end the header that carries it; the start of a file may be a byte order mark.
      if (/[\p{Cc}\uFEFF]/u.test(value))
        throw new CredentialError('no_value', key, 'holds control characters');
      this.redactor.register(key, value);
      return value;
    } catch (error) {
      if (!(error instanceof SecretUnavailableError)) throw error;
      throw new CredentialError('no_value', error.key, error.message.slice(error.key.length + 2), {
        cause: error,
      });
    }
  }

  #entry(ref: string): CredentialConfig | undefined {
    return Object.hasOwn(this.#configured, ref) ? this.#configured[ref] : undefined;
  }
}

/** The providers whose address only the credential knows. */
const NEEDS_BASE_URL: readonly string[] = ['dify', 'new-api', 'agentscope', 'ragflow'];
