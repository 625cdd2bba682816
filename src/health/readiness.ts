import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { DataSource } from 'typeorm';

/** Long enough for an embedded PostgreSQL that is just being started again, on a busy machine too. */
const PING_MILLIS = 15_000;
const AGAIN_MILLIS = 50;

/** What a load balancer asks: may this process be given requests? */
@Injectable()
export class Readiness implements OnModuleDestroy {
  #stopping = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly indicators: HealthIndicatorService,
  ) {}

  onModuleDestroy(): void {
    this.#stopping = true;
  }

  process(): HealthIndicatorResult {
    const indicator = this.indicators.check('process');
    return this.#stopping ? indicator.down('is stopping') : indicator.up();
  }

  async database(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('database');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('no answer')), PING_MILLIS);
    });
    try {
      await Promise.race([this.#answers(), late]);
      return indicator.up();
    } catch {
      // Its message may name hosts and users; the log of the pool has it.
      return indicator.down('does not answer');
    } finally {
      clearTimeout(timer);
    }
  }

  /** A connection that broke, or a server that is just starting, is asked again until the time is over. */
  async #answers(): Promise<void> {
    for (const until = Date.now() + PING_MILLIS; ; await delay(AGAIN_MILLIS)) {
      try {
        await this.dataSource.query('SELECT 1');
        return;
      } catch (error) {
        if (Date.now() > until) throw error;
      }
    }
  }
}
