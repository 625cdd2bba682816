import { Injectable } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { RunEventBus } from '../events/run-event-bus.js';

interface PoolNumbers {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** What this process measures of itself, in a registry of its own; labels are bounded, never ids. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();
  readonly #requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time to the end of an answer, by route; streams last as long as they are open.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [this.registry],
  });
  readonly #events = new Counter({
    name: 'run_events_total',
    help: 'Recorded events of runs, by type.',
    labelNames: ['type'],
    registers: [this.registry],
  });

  constructor(bus: RunEventBus, dataSource: DataSource) {
    collectDefaultMetrics({ register: this.registry });
    bus.subscribe('metrics', ({ type }) => this.#events.inc({ type }));
    const gauge = new Gauge({
      name: 'database_pool_connections',
      help: 'Connections of the pool, and requests that wait for one.',
      labelNames: ['state'],
      registers: [this.registry],
      collect: () => {
        const { totalCount, idleCount, waitingCount } = poolOf(dataSource);
        gauge.set({ state: 'open' }, totalCount);
        gauge.set({ state: 'idle' }, idleCount);
        gauge.set({ state: 'waiting' }, waitingCount);
      },
    });
  }

  readonly measureRequest = (request: Request, response: Response, next: NextFunction): void => {
    const end = this.#requests.startTimer();
    response.once('close', () => {
      const { route } = request as { route?: { path?: unknown } };
      const path = typeof route?.path === 'string' ? route.path : 'none';
      end({ method: request.method, route: path, status: response.statusCode });
    });
    next();
  };
}

/** TypeORM keeps the pool of `pg` here. */
function poolOf(dataSource: DataSource): PoolNumbers {
  return (dataSource.driver as unknown as { master: PoolNumbers }).master;
}
