import { retryDelay } from './retry-delay.js';
import { webhookHeaders } from './webhook-signature.js';

describe('webhookHeaders', () => {
  it('signs as the reference implementation of Standard Webhooks does', () => {
    const headers = webhookHeaders(
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      new Date(1_614_265_330_000),
      '{"test": 2432232314}',
    );
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('takes a secret without the prefix as it is', () => {
    const at = new Date(0);
    const encoded = `whsec_${Buffer.from('plain').toString('base64')}`;
    expect(webhookHeaders('plain', 'id', at, '{}')).toEqual(webhookHeaders(encoded, 'id', at, '{}'));
  });
});

describe('retryDelay', () => {
  it('grows to an hour, spread by a fifth', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((attempt) => retryDelay(attempt, null, 0.5))).toEqual([
      1000, 5000, 25_000, 125_000, 625_000, 3_125_000, 3_600_000,
    ]);
    expect([retryDelay(1, null, 0), retryDelay(1, null, 1)]).toEqual([800, 1200]);
  });

  it('waits as long as the receiver asks, but not longer than an hour', () => {
    expect([retryDelay(1, 60_000, 0.5), retryDelay(1, 9e9, 0.5), retryDelay(3, 10, 0.5)]).toEqual([
      60_000, 3_600_000, 25_000,
    ]);
  });
});
