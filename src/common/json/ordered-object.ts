/** Keys that JavaScript sorts to an object's front by their number; a few more match, which does no harm. */
const INDEX = /^\d{1,10}$/;

/**
 * `Object.fromEntries` that keeps the order of all keys (decision 44): plain objects show keys such as `"2024"` first
 * and sorted. Where that would change the order, the object stands behind a proxy that lists its keys as they came; to
 * `JSON.stringify`, `Object.keys` and their like it is any object. It cannot be cloned to a worker: send JSON text.
 */
export function orderedObject<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  const order = new Map(entries);
  const object = Object.fromEntries(order);
  const keys = [...order.keys()];
  if (!keys.some((key) => INDEX.test(key))) return object;
  if (Object.keys(object).every((key, at) => key === keys[at])) return object;
  return new Proxy(object, {
    ownKeys: (target) => {
      const own = new Set(Reflect.ownKeys(target));
      return [...keys.filter((key) => own.delete(key)), ...own];
    },
  });
}
