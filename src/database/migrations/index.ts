import { CreateWorkflowsAndRuns1764547200000 } from './1764547200000-create-workflows-and-runs.js';

/** Every migration, oldest first. */
export const migrations = [CreateWorkflowsAndRuns1764547200000];
