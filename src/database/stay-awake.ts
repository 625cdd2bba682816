/** At the most for one answer; a database that takes longer is waited for asleep. */
const LIMIT_MILLIS = 2;

/**
 * Keeps the event loop turning until the answer comes, for one that is due at once and that somebody waits for. A
 * process that sleeps has to be woken, and the answer lies there meanwhile: on a virtual machine a tenth of a
 * millisecond or two, of the one that a step of a run takes. The price is this process's core for as long.
 */
export function stayAwake(answer: Promise<unknown>): void {
  const until = performance.now() + LIMIT_MILLIS;
  let isAwaited = true;
  const settle = (): void => {
    isAwaited = false;
  };
  answer.then(settle, settle);
  const turn = (): void => {
    if (isAwaited && performance.now() < until) setImmediate(turn);
  };
  setImmediate(turn);
}
