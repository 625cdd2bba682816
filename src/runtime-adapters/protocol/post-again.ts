import type { RuntimeFailure } from './agent-runtime-response.js';
import { failureOfError, RuntimeFault } from './failure-classification.js';
import { pause } from './pause.js';

export interface PostPolicy {
  readonly maxAttempts: number;
  /** Whether the provider surely did not begin, so that the same command may be posted once more. */
  readonly mayPostAgain: (failure: RuntimeFailure) => boolean;
  /** Before the second post; doubled for each further one, at most 10 s, with jitter. */
  readonly backoffMs: number;
}

const LONGEST_PAUSE_MS = 10_000;

/** Posts, and again only as the policy allows and the deadline lasts. Throws what ended the last post. */
export async function postAgain<T>(
  post: () => Promise<T>,
  policy: PostPolicy,
  signal: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await post();
    } catch (error) {
      if (signal.aborted) throw error;
      const failure = failureOfError(error);
      if (attempt >= policy.maxAttempts || !policy.mayPostAgain(failure)) throw new RuntimeFault(failure);
      const longest = Math.min(LONGEST_PAUSE_MS, policy.backoffMs * 2 ** (attempt - 1));
      await pause(longest * (0.5 + Math.random() / 2), signal);
    }
  }
}
