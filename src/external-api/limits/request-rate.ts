import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ApiKeyIdentity } from '../../api-keys/index.js';
import { RateLimitedError } from './rate-limited.error.js';

/**
 * Requests a minute of each key, counted in the database for all processes together (decision 47). A key may use
 * its whole minute at once; then it gets one request back every 60/n seconds (generic cell rate algorithm).
 */
@Injectable()
export class RequestRate {
  constructor(private readonly dataSource: DataSource) {}

  /** Counts a request; throws a RateLimitedError, and counts nothing, when it is one too many. */
  async take({ name, requestsPerMinute }: ApiKeyIdentity): Promise<void> {
    if (requestsPerMinute === null) return;
    const interval = 60 / requestsPerMinute;
    const taken = await this.dataSource.query<unknown[]>(
      `INSERT INTO api_key_rates AS rate (key_name, used_until)
       VALUES ($1, clock_timestamp() + make_interval(secs => $2))
       ON CONFLICT (key_name) DO UPDATE
          SET used_until = greatest(rate.used_until, clock_timestamp()) + make_interval(secs => $2)
        WHERE rate.used_until + make_interval(secs => $2) <= clock_timestamp() + interval '60.001 seconds'
       RETURNING 1`,
      [name, interval],
    );
    if (taken.length > 0) return;
    const [row] = await this.dataSource.query<{ wait: number }[]>(
      `SELECT extract(epoch FROM used_until - clock_timestamp())::float8 + $2 - 60 AS wait
         FROM api_key_rates WHERE key_name = $1`,
      [name, interval],
    );
    throw new RateLimitedError(
      `the key is limited to ${requestsPerMinute} requests a minute`,
      Math.max(1, Math.ceil(row?.wait ?? interval)),
    );
  }
}
