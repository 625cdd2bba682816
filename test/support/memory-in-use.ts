import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Bytes that something still refers to, on the heap and outside of it (buffers). What the process holds of the system
 * besides says more of when the garbage collector last came than of the code.
 */
export async function memoryInUse(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let least = Infinity;
  for (let at = 0; at < 3; at += 1) {
    collect();
    // Finalisers run between collections.
    await new Promise((resolve) => setImmediate(resolve));
    const { heapUsed, external } = process.memoryUsage();
    least = Math.min(least, heapUsed + external);
  }
  return least;
}
