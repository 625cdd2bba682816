import { parentPort } from 'node:worker_threads';

/** What a worker thread says to its pool: once that it is ready, then one answer for each job. */
export type WorkerMessage<Answer> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'error'; readonly message: string };

/** The worker's side of a WorkerPool: call it once, when everything the jobs need is loaded. */
export function serveJobs<Answer>(handle: (job: never) => Answer | Promise<Answer>): void {
  const port = parentPort;
  if (!port) throw new Error('a worker module runs in a worker thread only');
  const say = (message: WorkerMessage<Answer>): void => port.postMessage(message);
  port.on('message', (job) => {
    Promise.resolve()
      .then(() => handle(job as never))
      .then(
        (answer) => say({ kind: 'answer', answer }),
        (error: unknown) =>
          say({ kind: 'error', message: error instanceof Error ? error.message : String(error) }),
      );
  });
  say({ kind: 'ready' });
}
