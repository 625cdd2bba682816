/** Makes a JSON value unchangeable, however deep, without recursion: it is shared by all who read it. */
export function deepFreeze<T extends object>(value: T): T {
  const pending: object[] = [value];
  for (let next = pending.pop(); next; next = pending.pop()) {
    Object.freeze(next);
    for (const one of Object.values(next) as unknown[]) {
      if (typeof one === 'object' && one !== null && !Object.isFrozen(one)) pending.push(one);
    }
  }
  return value;
}
