import { Worker } from 'node:worker_threads';
import type { LoadPlan, LoadResult } from './load-plan.js';

/** Sends a plan from a worker thread. Rejects when an answer was not 200. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const worker = new Worker(new URL('./load-worker.js', import.meta.url), { workerData: plan });
  const result = await new Promise<LoadResult>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  if (result.failures > 0) throw new Error(`${result.failures} requests to ${plan.url} failed`);
  return result;
}

/** The latency that so many of a hundred requests did not exceed. */
export function percentile({ latencies }: LoadResult, percent: number): number {
  return latencies[Math.min(latencies.length - 1, Math.floor((latencies.length * percent) / 100))] ?? NaN;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
