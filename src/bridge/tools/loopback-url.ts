const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * The base URL as a URL if it points to this machine, else null (internal-context-query.md §9.2). Written so that
 * the host is the one the URL parser sees: `http://127.0.0.1@elsewhere` is elsewhere.
 */
export function loopbackUrl(baseUrl: string): URL | null {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (!url || url.protocol !== 'http:' || !LOOPBACK.has(url.hostname)) return null;
  if (url.username || url.password || url.search || url.hash) return null;
  return url;
}
