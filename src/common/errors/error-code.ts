/**
 * The `code` of an error of Node's (`ENOENT`, say); undefined where there is none. It asks no `instanceof`, because
 * errors of the system come from another realm where code runs in a context of its own, as it does in jest.
 */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
