import { serveJobs } from '../../../src/common/workers/serve-jobs.js';

/** What the pool's spec lets a thread do. */
export type TestJob =
  | { do: 'echo'; value: string }
  | { do: 'throw'; message: string }
  | { do: 'loop' }
  | { do: 'exit' }
  | { do: 'hoard' }
  | { do: 'environment' };

function forEver(): never {
  for (;;);
}

function hoard(): never {
  for (const hoarded: number[][] = []; ;) hoarded.push(Array.from({ length: 10_000 }, (_, at) => at));
}

serveJobs((job: TestJob): string => {
  switch (job.do) {
    case 'echo':
      return job.value;
    case 'throw':
      throw new Error(job.message);
    case 'loop':
      return forEver();
    case 'exit':
      return process.exit(3);
    case 'hoard':
      return hoard();
    case 'environment':
      return Object.keys(process.env).join();
  }
});
