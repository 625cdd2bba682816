import { serveJobs } from '../../../common/workers/serve-jobs.js';
import { runInSandbox } from './run-in-sandbox.js';

serveJobs(runInSandbox);
