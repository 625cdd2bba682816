/**
 * A signal that aborts when its parent does, or after some time. Made of a timer and a listener rather than of
 * AbortSignal.any and AbortSignal.timeout: Node 20 may collect those as garbage before they fire.
 */
export interface Deadline {
  readonly signal: AbortSignal;
  /** True once the time was over, as opposed to the parent's abort. */
  readonly hasPassed: () => boolean;
  /** Ends timer and listener. Call it in `finally`. */
  readonly close: () => void;
}

const LONGEST_TIMER = 2 ** 31 - 1;

export function deadline(millis: number, parent?: AbortSignal): Deadline {
  const controller = new AbortController();
  let passed = false;
  const follow = (): void => controller.abort(parent?.reason);
  const timer = setTimeout(
    () => {
      passed = true;
      controller.abort(new Error('the time is over'));
    },
    Math.min(millis, LONGEST_TIMER),
  );
  if (parent?.aborted) follow();
  else parent?.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    hasPassed: () => passed,
    close: () => {
      clearTimeout(timer);
      parent?.removeEventListener('abort', follow);
    },
  };
}
