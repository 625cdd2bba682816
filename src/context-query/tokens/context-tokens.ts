import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { BridgeContextQuery } from '../../bridge/protocol.js';

export interface ContextTokenSettings {
  readonly enabled: boolean;
  readonly tokenTtlSeconds: number;
  readonly cleanupIntervalSeconds: number;
  readonly maxTokensPerVisit: number;
  readonly sliding: boolean;
}

/** A server listens within a moment of its start; one that has not by then never will. */
const MAX_WAIT_MILLIS = 5_000;

/** Whose token it is: the visit that may ask, and the node it visits. */
export interface ContextTokenHolder {
  readonly runId: string;
  readonly visitUuid: string;
  readonly nodeId: string;
}

interface LiveToken extends ContextTokenHolder {
  readonly hash: string;
  /** Milliseconds since the epoch; moves with `renew`. */
  expiresAt: number;
  readonly notAfter: number;
}

/**
 * The tokens with which running visits ask `/internal/context` (internal-context-query.md §3, decisions 22
 * and 23). A token is handed out once and never kept: only its SHA-256 is, in the memory of the process that
 * runs the visit.
 */
export class ContextTokens {
  readonly #settings: ContextTokenSettings;
  readonly #baseUrl: () => string | null;
  readonly #served: Promise<void>;
  readonly #logger = new Logger(ContextTokens.name);
  readonly #byHash = new Map<string, LiveToken>();
  /** Live tokens of each visit, oldest first. */
  readonly #byVisit = new Map<string, LiveToken[]>();
  #cleanup: NodeJS.Timeout | null = null;

  /**
   * `baseUrl` answers where this process serves `/internal/context` on loopback; null while it does not. `served`
   * resolves once it does.
   */
  constructor(
    settings: ContextTokenSettings,
    baseUrl: () => string | null,
    served: Promise<void> = Promise.resolve(),
  ) {
    this.#settings = settings;
    this.#baseUrl = baseUrl;
    this.#served = served;
  }

  /**
   * To be awaited before `issue`: a run that goes on after a restart may be quicker than the listener. Resolves at
   * once when tokens can be made, or need not be, and in any case after some seconds.
   */
  async ready(): Promise<void> {
    if (!this.#settings.enabled || this.#baseUrl() !== null) return;
    const tooLate = new AbortController();
    await Promise.race([
      this.#served,
      delay(MAX_WAIT_MILLIS, undefined, { ref: false, signal: tooLate.signal }).catch(() => undefined),
    ]);
    tooLate.abort();
  }

  /**
   * A new token for a visit that begins, as the bridge is given it; null when context queries are off or this
   * process does not listen. `notAfter` is when the visit times out. The visit's oldest token is revoked when it
   * has `max-tokens-per-visit` already.
   */
  issue(holder: ContextTokenHolder & { readonly notAfter: Date }): BridgeContextQuery | null {
    if (!this.#settings.enabled) return null;
    const baseUrl = this.#baseUrl();
    if (baseUrl === null) {
      this.#logger.warn(`no listener serves /internal/context: visit ${holder.visitUuid} goes without it`);
      return null;
    }
    const { runId, visitUuid, nodeId } = holder;
    const token = randomBytes(24).toString('hex');
    const notAfter = holder.notAfter.getTime();
    const live = {
      runId,
      visitUuid,
      nodeId,
      hash: hashOf(token),
      expiresAt: this.#expiry(notAfter),
      notAfter,
    };
    this.#makeRoom(live);
    this.#byHash.set(live.hash, live);
    this.#byVisit.set(visitKey(live), [...(this.#byVisit.get(visitKey(live)) ?? []), live]);
    return { base_url: baseUrl, token, run_id: runId, visit_uuid: visitUuid };
  }

  /** A sign of life of the visit: its token lives a full TTL from now. An expired token stays expired. */
  renew(token: string): void {
    if (!this.#settings.sliding) return;
    const live = this.#find(token);
    if (live) live.expiresAt = this.#expiry(live.notAfter);
  }

  /** The visit has ended, whatever way. */
  revoke(token: string): void {
    const live = this.#byHash.get(hashOf(token));
    if (live) this.#forget(live);
  }

  /** Whose token this is; null for an unknown, expired or revoked one. */
  authenticate(token: string): ContextTokenHolder | null {
    return this.#find(token);
  }

  /** Tokens held, expired ones that the next clean-up takes included. */
  get size(): number {
    return this.#byHash.size;
  }

  /** Drops expired tokens every `cleanup-interval-seconds`; the timer keeps no process alive. */
  startCleanup(): void {
    this.#cleanup ??= setInterval(
      () => this.#dropExpired(),
      this.#settings.cleanupIntervalSeconds * 1000,
    ).unref();
  }

  stopCleanup(): void {
    if (this.#cleanup) clearInterval(this.#cleanup);
    this.#cleanup = null;
  }

  #find(token: string): LiveToken | null {
    const live = this.#byHash.get(hashOf(token));
    if (!live) return null;
    if (live.expiresAt > Date.now()) return live;
    this.#forget(live);
    return null;
  }

  #expiry(notAfter: number): number {
    return Math.min(Date.now() + this.#settings.tokenTtlSeconds * 1000, notAfter);
  }

  #makeRoom({ runId, visitUuid }: LiveToken): void {
    const now = Date.now();
    const ofVisit = this.#byVisit.get(visitKey({ runId, visitUuid })) ?? [];
    for (const expired of ofVisit.filter(({ expiresAt }) => expiresAt <= now)) this.#forget(expired);
    const live = ofVisit.filter(({ expiresAt }) => expiresAt > now);
    for (const oldest of live.slice(0, Math.max(0, live.length - this.#settings.maxTokensPerVisit + 1))) {
      this.#logger.warn(
        `visit ${visitUuid} of run ${runId} has ${live.length} context tokens: the oldest is revoked`,
      );
      this.#forget(oldest);
    }
  }

  #forget(live: LiveToken): void {
    this.#byHash.delete(live.hash);
    const rest = (this.#byVisit.get(visitKey(live)) ?? []).filter((other) => other !== live);
    if (rest.length === 0) this.#byVisit.delete(visitKey(live));
    else this.#byVisit.set(visitKey(live), rest);
  }

  #dropExpired(): void {
    const now = Date.now();
    for (const live of this.#byHash.values()) if (live.expiresAt <= now) this.#forget(live);
  }
}

function visitKey({ runId, visitUuid }: Pick<ContextTokenHolder, 'runId' | 'visitUuid'>): string {
  return `${runId}:${visitUuid}`;
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
