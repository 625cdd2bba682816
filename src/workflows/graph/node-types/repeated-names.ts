import type { FieldError } from '../../../common/errors/domain-error.js';

/** One problem for each entry of a list whose name an earlier one has. */
export function repeatedNames<K extends string>(
  list: string,
  key: K,
  entries: readonly Readonly<Record<K, string>>[],
): FieldError[] {
  const seen = new Set<string>();
  return entries.flatMap((entry, at) => {
    const name = entry[key];
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [{ field: `${list}.${at}.${key}`, message: `${JSON.stringify(name)} is used more than once` }];
  });
}
