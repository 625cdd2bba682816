import { JournalUnavailableError, LeaseLostError } from '../../runs/journal/journal-errors.js';

/** Why an execution is told to leave its run: it is cancelled, taken over, or its server stops. */
export class LeftOnPurposeError extends Error {
  override readonly name = 'LeftOnPurposeError';
}

/** Whether an execution left its run for a fault of ours, which may well come again the next time. */
export function isInternalFault(reason: Error): boolean {
  return !(
    reason instanceof LeftOnPurposeError ||
    reason instanceof LeaseLostError ||
    reason instanceof JournalUnavailableError
  );
}
