import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ContextTokens, type ContextTokenSettings } from './context-tokens.js';

const settings: ContextTokenSettings = {
  enabled: true,
  tokenTtlSeconds: 120,
  cleanupIntervalSeconds: 60,
  maxTokensPerVisit: 4,
  sliding: true,
};
const visit = { runId: 'r1', visitUuid: 'v1', nodeId: 'B' };

function tokensWith(overrides: Partial<ContextTokenSettings> = {}): ContextTokens {
  return new ContextTokens({ ...settings, ...overrides }, () => 'http://127.0.0.1:1');
}

function issue(tokens: ContextTokens, seconds = 3_600, of = visit): string {
  const issued = tokens.issue({ ...of, notAfter: new Date(Date.now() + seconds * 1000) });
  if (!issued) throw new Error('no token was issued');
  return issued.token;
}

beforeEach(() => {
  jest.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z') });
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe('a token', () => {
  test('is 48 hex characters, comes as the bridge takes it, and tells whose it is', () => {
    const tokens = tokensWith();
    const issued = tokens.issue({ ...visit, notAfter: new Date(Date.now() + 1000) });
    expect(issued).toEqual({
      base_url: 'http://127.0.0.1:1',
      token: issued?.token,
      run_id: 'r1',
      visit_uuid: 'v1',
    });
    expect(issued?.token).toMatch(/^[0-9a-f]{48}$/);
    expect(tokens.authenticate(issued?.token ?? '')).toMatchObject(visit);
  });

  test('is nobody’s when it is unknown, empty or written otherwise', () => {
    const tokens = tokensWith();
    const token = issue(tokens);
    for (const wrong of ['', 'x', token.toUpperCase(), `${token} `, token.slice(1)]) {
      expect(tokens.authenticate(wrong)).toBeNull();
    }
  });

  test('is not kept in memory', () => {
    const tokens = tokensWith();
    const token = issue(tokens);
    expect(JSON.stringify(tokens.authenticate(token))).not.toContain(token);
  });

  test('dies after the TTL', () => {
    const tokens = tokensWith();
    const token = issue(tokens);
    jest.advanceTimersByTime(119_999);
    expect(tokens.authenticate(token)).not.toBeNull();
    jest.advanceTimersByTime(1);
    expect(tokens.authenticate(token)).toBeNull();
  });

  test('slides with every sign of life, but never past the visit’s end', () => {
    const tokens = tokensWith();
    const token = issue(tokens, 200);
    jest.advanceTimersByTime(100_000);
    tokens.renew(token);
    jest.advanceTimersByTime(99_999);
    expect(tokens.authenticate(token)).not.toBeNull();
    tokens.renew(token);
    jest.advanceTimersByTime(1);
    expect(tokens.authenticate(token)).toBeNull();
  });

  test('does not come back to life once it has expired', () => {
    const tokens = tokensWith();
    const token = issue(tokens);
    jest.advanceTimersByTime(120_000);
    tokens.renew(token);
    expect(tokens.authenticate(token)).toBeNull();
  });

  test('does not slide where sliding is off', () => {
    const tokens = tokensWith({ sliding: false });
    const token = issue(tokens);
    jest.advanceTimersByTime(100_000);
    tokens.renew(token);
    jest.advanceTimersByTime(20_000);
    expect(tokens.authenticate(token)).toBeNull();
  });

  test('dies with its visit, and only it', () => {
    const tokens = tokensWith();
    const [first, second] = [issue(tokens), issue(tokens)];
    tokens.revoke(first);
    tokens.revoke(first);
    expect(tokens.authenticate(first)).toBeNull();
    expect(tokens.authenticate(second)).not.toBeNull();
  });
});

describe('a visit with too many tokens', () => {
  test('loses the oldest, with a warning that names the visit and no token', () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const tokens = tokensWith();
    const issued = Array.from({ length: 5 }, () => issue(tokens));
    expect(issued.map((token) => tokens.authenticate(token) !== null)).toEqual([
      false,
      true,
      true,
      true,
      true,
    ]);
    expect(warn).toHaveBeenCalledTimes(1);
    const message = String(warn.mock.calls[0]?.[0]);
    expect(message).toContain('v1');
    for (const token of issued) expect(message).not.toContain(token);
  });

  test('counts neither expired tokens nor those of other visits', () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const tokens = tokensWith({ maxTokensPerVisit: 2 });
    issue(tokens, 1);
    jest.advanceTimersByTime(1_000);
    const mine = [issue(tokens), issue(tokens)];
    issue(tokens, 60, { ...visit, visitUuid: 'v2' });
    issue(tokens, 60, { ...visit, runId: 'r2' });
    expect(mine.every((token) => tokens.authenticate(token))).toBe(true);
    expect(warn).not.toHaveBeenCalled();
  });
});

describe('issuing', () => {
  test('gives nothing where context queries are off', () => {
    expect(
      tokensWith({ enabled: false }).issue({ ...visit, notAfter: new Date(Date.now() + 1000) }),
    ).toBeNull();
  });

  test('gives nothing, with a warning, while nothing listens', () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const tokens = new ContextTokens(settings, () => null);
    expect(tokens.issue({ ...visit, notAfter: new Date(Date.now() + 1000) })).toBeNull();
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

describe('before the listener is up', () => {
  test('a visit waits for it, so that it gets its token', async () => {
    let url: string | null = null;
    let listen = (): void => undefined;
    const served = new Promise<void>((resolve) => {
      listen = resolve;
    });
    const tokens = new ContextTokens(settings, () => url, served);
    const ready = tokens.ready();
    url = 'http://127.0.0.1:1';
    listen();
    await ready;
    expect(tokens.issue({ ...visit, notAfter: new Date(Date.now() + 1000) })).not.toBeNull();
  });

  test('nobody waits where context queries are off', async () => {
    const tokens = new ContextTokens(
      { ...settings, enabled: false },
      () => null,
      new Promise(() => undefined),
    );
    await expect(tokens.ready()).resolves.toBeUndefined();
  });
});

test('clean-up drops what has expired, and nothing else', () => {
  const tokens = tokensWith();
  tokens.startCleanup();
  issue(tokens, 30);
  const alive = issue(tokens);
  jest.advanceTimersByTime(59_999);
  expect(tokens.size).toBe(2);
  jest.advanceTimersByTime(1);
  expect(tokens.size).toBe(1);
  expect(tokens.authenticate(alive)).not.toBeNull();
  tokens.stopCleanup();
  jest.advanceTimersByTime(600_000);
  expect(tokens.size).toBe(1);
});
