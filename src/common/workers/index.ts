export { serveJobs } from './serve-jobs.js';
export { WorkerLostError, WorkerPool, WorkerTimeoutError, type WorkerPoolOptions } from './worker-pool.js';
