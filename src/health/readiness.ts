import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { DataSource } from 'typeorm';

const PING_MILLIS = 2_000;

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
      await Promise.race([this.dataSource.query('SELECT 1'), late]);
      return indicator.up();
    } catch {
      // Its message may name hosts and users; the log of the pool has it.
      return indicator.down('does not answer');
    } finally {
      clearTimeout(timer);
    }
  }
}
