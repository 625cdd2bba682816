import { AgentVersionsController } from './agents/agent-versions.controller.js';
import { AgentsController } from './agents/agents.controller.js';
import { InvocationsController } from './agents/invocations.controller.js';
import { SlotsController } from './agents/slots.controller.js';
import { ApiKeysController } from './api-keys/api-keys.controller.js';
import { AuditLogsController } from './audit/audit-logs.controller.js';
import { CredentialsController } from './credentials/credentials.controller.js';
import { RunsController } from './runs/runs.controller.js';
import { RuntimeCallsController } from './runtime-calls/runtime-calls.controller.js';
import { UsageController } from './usage/usage.controller.js';
import { WorkflowTransferController } from './workflows/workflow-transfer.controller.js';
import { WorkflowsController } from './workflows/workflows.controller.js';

/** The controllers about agents: what they are, what they did, what it cost, and who changed them. */
export const adminAgentsControllers = [
  AgentsController,
  AgentVersionsController,
  InvocationsController,
  SlotsController,
  RuntimeCallsController,
  UsageController,
  CredentialsController,
  AuditLogsController,
];

/** The other controllers of /admin/v1. */
export const adminWorkflowsControllers = [
  WorkflowsController,
  WorkflowTransferController,
  ApiKeysController,
  RunsController,
];

/** Every controller of /admin/v1, in the order of the documentation. */
export const adminApiControllers = [...adminWorkflowsControllers, ...adminAgentsControllers];
