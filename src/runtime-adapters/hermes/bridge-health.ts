import type { BridgeEndpoint } from './bridge-endpoint.js';

/** What `GET {bridge}/health` says; null when it does not answer well within the time. */
export async function bridgeHealth(
  endpoint: BridgeEndpoint,
  timeoutMillis: number,
): Promise<{ active: number } | null> {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), timeoutMillis);
  try {
    const response = await fetch(`${endpoint.url}/health`, {
      headers: { authorization: `Bearer ${endpoint.secret}` },
      redirect: 'manual',
      signal: giveUp.signal,
    });
    const body = (await response.json()) as { active?: unknown };
    if (response.status !== 200) return null;
    return { active: typeof body.active === 'number' ? body.active : 0 };
  } catch {
    // Whatever kept it from answering, it is not well.
    return null;
  } finally {
    clearTimeout(timer);
  }
}
