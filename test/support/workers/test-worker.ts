import { serveJobs } from '../../../src/common/workers/serve-jobs.js';

/** What the pool's spec lets a thread do. */
export type TestJob =
  | { do: 'echo'; value: string }
  | { do: 'throw'; message: string }
  | { do: 'loop' }
  | { do: 'exit' }
  | { do: 'hoard' }
  | { do: 'environment' };

serveJobs((job: TestJob): string => {
  switch (job.do) {
    case 'echo':
      return job.value;
    case 'throw':
      throw new Error(job.message);
    case 'loop':
      for (;;);
    case 'exit':
      process.exit(3);
    case 'hoard':
      for (const hoard: number[][] = []; ; ) hoard.push(Array.from({ length: 10_000 }, (_, at) => at));
    case 'environment':
      return Object.keys(process.env).join();
  }
});
