/**
 * Why something failed, in words: the error's message, or where it has none its code. An error that stands for many
 * (a host whose every address refused) says what each of them says, once.
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error) && !isErrorLike(error)) return String(error);
  if (error.message !== '') return error.message;
  if ('errors' in error && Array.isArray(error.errors) && error.errors.length > 0) {
    return [...new Set(error.errors.map(reasonOf))].join('; ');
  }
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

/** Errors of the system come from another realm where code runs in a context of its own, as it does in jest. */
function isErrorLike(error: unknown): error is Error {
  return typeof error === 'object' && error !== null && 'message' in error && 'name' in error;
}
