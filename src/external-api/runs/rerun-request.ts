import { z } from 'zod';

/** Body of a rerun; null counts as absent. */
export const rerunRequest = z.object({
  /** Absent: what succeeded in a failed run is reused, nothing of one that succeeded. */
  fromNodeId: z.string().max(64).nullish(),
  /** Absent: the version of the original run. */
  version: z.literal('latest').nullish(),
});
