import type { z } from 'zod';
import type { FieldError } from './domain-error.js';

/** Field errors of a refused value: dotted paths, one entry for each unknown key. */
export function zodFieldErrors(error: z.ZodError): FieldError[] {
  return error.issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') return [{ field: path.join('.'), message: issue.message }];
    return issue.keys.map((key) => ({ field: [...path, key].join('.'), message: 'is not a known key' }));
  });
}

/** Pass to `safeParse` as `error`: a missing key is told as that and not as a wrong type. */
export function missingIsRequired(issue: z.core.$ZodRawIssue): string | undefined {
  return issue.input === undefined && issue.code === 'invalid_type' ? 'is required' : undefined;
}
