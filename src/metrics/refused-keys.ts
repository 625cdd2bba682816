import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { AdminKeys } from '../admin-api/auth/index.js';
import { ApiKeys } from '../api-keys/index.js';
import { Metrics } from './metrics.js';

/** Counts presented keys that were refused: somebody may be guessing. */
@Injectable()
export class RefusedKeys {
  constructor(metrics: Metrics, apiKeys: ApiKeys, adminKeys: AdminKeys) {
    const counter = new Counter({
      name: 'refused_keys_total',
      help: 'Missing, unknown, expired and revoked keys that callers presented.',
      labelNames: ['kind'],
      registers: [metrics.registry],
      collect: () => {
        counter.reset();
        counter.inc({ kind: 'api' }, apiKeys.failedAttempts);
        counter.inc({ kind: 'admin' }, adminKeys.failedAttempts);
      },
    });
  }
}
