import { reasonOf } from '../../common/errors/reason-of.js';

/** Runs a command of the shell; what goes wrong is one message on standard error, and exit code 1. */
export async function runCommand(name: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    process.stderr.write(`${name}: ${reasonOf(error)}\n`);
    process.exitCode = 1;
  }
}
