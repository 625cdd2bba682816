import { ContinueRunController } from './runs/continue-run.controller.js';
import { CreateRunController } from './runs/create-run.controller.js';
import { RunsController } from './runs/runs.controller.js';
import { WorkflowsController } from './workflows/workflows.controller.js';
import { WorkspaceController } from './workspace/workspace.controller.js';

/** Every controller of /api/v1, in the order of the documentation. */
export const externalApiControllers = [
  WorkflowsController,
  CreateRunController,
  RunsController,
  ContinueRunController,
  WorkspaceController,
];
