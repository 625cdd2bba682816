/** `data` of every list of `/admin/v1`. */
export interface AdminList<T> {
  readonly items: readonly T[];
  /** `cursor` of the next page; null when this was the last one. */
  readonly nextCursor: string | null;
}

/**
 * One page out of `found`, which holds one entry more than `limit` where there is a next page. `cursorOf` gives the
 * place of the page's last entry.
 */
export function adminList<E, T>(
  found: readonly E[],
  limit: number,
  show: (entry: E) => T,
  cursorOf: (last: E) => string,
): AdminList<T> {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { items: page.map(show), nextCursor: hasMore ? cursorOf(last) : null };
}
