import { z } from 'zod';
import { defineNodeType } from './node-type.js';

/** Thirty days. */
const MAX_SECONDS = 2_592_000;

/** `delay`: goes on after so many seconds; fractions allowed. */
export const delayNode = defineNodeType({
  type: 'delay',
  shape: { seconds: z.number().min(0).max(MAX_SECONDS) },
});
