import { z } from 'zod';

/** The answers of /api/v1 as the OpenAPI document shows them; a test holds real answers against them. */

const time = z.iso.datetime().describe('ISO-8601, UTC');
const object = z.record(z.string(), z.unknown());
const runStatus = z.enum(['CREATED', 'RUNNING', 'SUCCESS', 'FAILED']);
const nodeStatus = z.enum(['PENDING', 'RUNNING', 'SUCCESS', 'FAILED', 'SKIPPED', 'WAITING']);
const logType = z.enum(['THINKING', 'TOOL_CALL', 'TOOL_RESULT', 'TODO_UPDATE', 'INFO', 'ERROR']);

const field = z.looseObject({
  name: z.string(),
  type: z.string().optional(),
  required: z.boolean().optional(),
  label: z.string().optional(),
  description: z.string().optional(),
});

export const workflowSchema = z
  .object({
    id: z.int(),
    name: z.string().describe('Kebab-case, unique; use it in paths'),
    displayName: z.string(),
    description: z.string(),
    version: z.int(),
    inputs: z.array(field).describe('Variables that a run takes'),
    outputs: z.array(field).describe('Fields of a run’s outputs'),
  })
  .meta({ id: 'Workflow' });

export const linksSchema = z
  .object({ start: z.string(), stream: z.string(), result: z.string(), workspace: z.string() })
  .meta({ id: 'RunLinks', description: 'Paths on this server' });

const created = {
  runId: z.string(),
  workflowId: z.int(),
  workflowName: z.string(),
  displayName: z.string(),
  status: z.literal('CREATED'),
  createdAt: time,
  links: linksSchema,
};
export const createdRunSchema = z.object(created).meta({ id: 'CreatedRun' });
export const rerunSchema = z.object({ ...created, rerunOf: z.string() }).meta({ id: 'Rerun' });

export const startedRunSchema = z
  .object({ runId: z.string(), status: z.literal('RUNNING'), startedAt: time, links: linksSchema })
  .meta({ id: 'StartedRun' });

const errorDetail = z
  .looseObject({ code: z.string(), nodeId: z.string().nullable(), visitUuid: z.string().nullable() })
  .meta({ id: 'ErrorDetail' });

const visit = z
  .object({
    visitUuid: z.uuid(),
    iterSeq: z.int().describe('1 for the node’s first visit'),
    status: nodeStatus,
    startedAt: time,
    completedAt: time.nullable(),
  })
  .meta({ id: 'Visit' });

const nodeResult = z
  .object({
    nodeId: z.string(),
    nodeType: z.string(),
    label: z.string(),
    status: nodeStatus,
    output: object.nullable(),
    error: z.string().nullable(),
    errorDetail: errorDetail.nullable(),
    startedAt: time.nullable(),
    completedAt: time.nullable(),
    visits: z.array(visit),
    skippedBecause: z.array(z.string()).optional().describe('Nodes that are the cause'),
    logsCount: z.int(),
    logsUrl: z.string(),
  })
  .meta({ id: 'NodeResult' });

const waitingNode = z
  .looseObject({
    nodeId: z.string(),
    visitUuid: z.uuid(),
    kind: z.enum(['person', 'child', 'time']),
    fields: z.array(field).describe('`person`: what to give; else empty'),
    message: z.string().optional().describe('`person`: what is asked'),
    childRunId: z.string().optional().describe('`child`: the run of the sub-workflow'),
    until: time.optional().describe('`time`: when it goes on'),
    since: time,
  })
  .meta({ id: 'WaitingNode' });

export const runResultSchema = z
  .object({
    runId: z.string(),
    workflowId: z.int(),
    workflowName: z.string(),
    displayName: z.string(),
    status: runStatus,
    statusReason: z.string().nullable().describe('Why a run is FAILED'),
    createdAt: time,
    startedAt: time.nullable(),
    completedAt: time.nullable(),
    error: z.string().nullable(),
    errorDetail: errorDetail.nullable(),
    outputs: object.nullable().describe('With _workingDirFiles and _runId; null until the run has succeeded'),
    nodes: z.array(nodeResult),
    waiting: z.array(waitingNode).describe('What the run waits for'),
    workspace: z.object({
      fileCount: z.int(),
      totalBytes: z.int(),
      downloadUrl: z.string(),
      expiredAt: time.nullable(),
    }),
    rerunOf: z.string().nullable(),
    parentRunId: z.string().nullable(),
    links: linksSchema,
  })
  .meta({ id: 'RunResult' });

export const runListSchema = z
  .object({
    items: z.array(
      z
        .object({
          runId: z.string(),
          status: runStatus,
          statusReason: z.string().nullable(),
          createdAt: time,
          startedAt: time.nullable(),
          completedAt: time.nullable(),
        })
        .meta({ id: 'RunListItem' }),
    ),
    nextCursor: z.string().nullable().describe('`cursor` of the next page'),
  })
  .meta({ id: 'RunList' });

export const nodeLogsSchema = z
  .object({
    items: z.array(
      z
        .object({
          seq: z.int(),
          type: logType,
          timestamp: time,
          message: z.string(),
          detail: z.string().nullable(),
          visitUuid: z.uuid(),
          iterSeq: z.int(),
        })
        .meta({ id: 'LogEntry' }),
    ),
    nextAfter: z.int().nullable().describe('`after` of the next page'),
  })
  .meta({ id: 'NodeLogs' });

export const acceptedInputSchema = z.object({ runId: z.string(), nodeId: z.string(), visitUuid: z.uuid() });

const ofEvent = { runId: z.string(), timestamp: time };
const ofNode = {
  ...ofEvent,
  nodeId: z.string(),
  nodeType: z.string(),
  label: z.string(),
  visitUuid: z.uuid(),
  iterSeq: z.int(),
};
/** `data` of one event of the stream. */
export const streamEventSchema = z
  .discriminatedUnion('type', [
    z.looseObject({ ...ofEvent, type: z.literal('run_started') }).meta({ id: 'RunStartedEvent' }),
    z
      .looseObject({
        ...ofNode,
        type: z.literal('node_status'),
        status: nodeStatus,
        error: z.string().nullish(),
        skippedBecause: z.array(z.string()).optional(),
      })
      .meta({ id: 'NodeStatusEvent' }),
    z
      .looseObject({
        ...ofNode,
        type: z.literal('node_stream'),
        status: z.literal('RUNNING'),
        kind: z.enum(['thinking', 'tool_call', 'tool_result', 'text', 'todo', 'info']),
        content: z.string(),
        toolName: z.string().nullable(),
      })
      .meta({ id: 'NodeStreamEvent' }),
    z
      .looseObject({
        ...ofEvent,
        type: z.literal('workflow_complete'),
        status: z.literal('SUCCESS'),
        outputs: object,
        resultUrl: z.string(),
        workspaceUrl: z.string(),
      })
      .meta({ id: 'WorkflowCompleteEvent' }),
    z
      .looseObject({
        ...ofEvent,
        type: z.literal('workflow_error'),
        status: z.literal('FAILED'),
        error: z.string().nullable(),
        nodeId: z.string().nullable(),
        statusReason: z.string().nullable(),
      })
      .meta({ id: 'WorkflowErrorEvent' }),
  ])
  .meta({
    id: 'StreamEvent',
    description: 'The data of one event; its name is `type`, its id counts from 1',
  });

export const zipSchema = z.string().meta({ openapi: { type: 'string', format: 'binary' } });
