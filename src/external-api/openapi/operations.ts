import { z } from 'zod';
import {
  queryParameters,
  type OperationDescription,
  type ParameterDescription,
} from '../../common/openapi/index.js';
import { jsonObject } from '../http/json-object.js';
import { nodeLogQuery, queryInteger, runListQuery } from '../http/query-schemas.js';
import { rerunRequest } from '../runs/rerun-request.js';
import { runRequestSchema } from '../runs/run-request.js';
import {
  acceptedInputSchema,
  createdRunSchema,
  nodeLogsSchema,
  rerunSchema,
  runListSchema,
  runResultSchema,
  startedRunSchema,
  streamEventSchema,
  workflowSchema,
  zipSchema,
} from './schemas.js';

const EVERY_ROUTE = ['UNAUTHORIZED', 'RATE_LIMITED', 'INTERNAL_ERROR'] as const;
const OF_WORKFLOW = ['VALIDATION_FAILED', 'WORKFLOW_NOT_FOUND', ...EVERY_ROUTE] as const;
const OF_RUN = ['RUN_NOT_FOUND', ...OF_WORKFLOW] as const;

const workflowName: ParameterDescription = {
  name: 'workflowName',
  in: 'path',
  description: 'The workflow’s name, or its numeric id where no name matches',
  schema: z.string(),
};
const runId: ParameterDescription = {
  name: 'runId',
  in: 'path',
  description: 'Opaque id of the run',
  schema: z.string(),
};
const nodeId: ParameterDescription = {
  name: 'nodeId',
  in: 'path',
  description: 'Id of a node in the workflow’s graph',
  schema: z.string(),
};

const stream = { 'text/event-stream': streamEventSchema };

export const listWorkflows: OperationDescription = {
  operationId: 'listWorkflows',
  summary: 'List the workflows that the key may use',
  tag: 'Workflows',
  answers: { 200: { description: 'All of them', data: z.array(workflowSchema) } },
  errors: ['VALIDATION_FAILED', ...EVERY_ROUTE],
};

export const getWorkflow: OperationDescription = {
  operationId: 'getWorkflow',
  summary: 'Show a workflow with its inputs and outputs',
  tag: 'Workflows',
  parameters: [workflowName],
  answers: { 200: { description: 'The workflow', data: workflowSchema } },
  errors: OF_WORKFLOW,
};

export const createRun: OperationDescription = {
  operationId: 'createRun',
  summary: 'Create a run, with variables and files',
  description:
    'With `async: true` (the default) the run waits for its start. With `async: false` it starts at once and the ' +
    'answer is its event stream. Multipart bodies carry the JSON as `payload` and any number of `files`; the part ' +
    'header `X-Relative-Path` gives a file’s path in the workspace.',
  tag: 'Runs',
  parameters: [
    workflowName,
    {
      name: 'Idempotency-Key',
      in: 'header',
      description: 'For 24 hours the same key with the same body gives the same run',
      schema: z.string().min(1).max(255),
    },
  ],
  body: {
    required: false,
    content: {
      'application/json': runRequestSchema.meta({ id: 'RunRequest' }),
      'multipart/form-data': z
        .object({
          payload: z.string().optional().describe('RunRequest as JSON text'),
          files: z.array(zipSchema).optional(),
        })
        .meta({ id: 'RunUpload' }),
    },
  },
  answers: {
    200: {
      description: '`async: false`: the events of the run, as `streamRun` gives them',
      // Without the parameter, generators take the whole operation for a stream.
      content: { 'text/event-stream; charset=utf-8': z.string() },
      headers: {
        'X-Run-Id': { description: 'The run', schema: z.string() },
        Location: { description: 'Path of the run’s result', schema: z.string() },
      },
    },
    201: {
      description: 'Created',
      data: createdRunSchema,
      headers: {
        Location: { description: 'Path of the run’s result', schema: z.string() },
        'Idempotency-Replayed': {
          description: '`true` where an earlier request made the run',
          schema: z.literal('true'),
        },
      },
    },
  },
  errors: ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'IDEMPOTENCY_CONFLICT', ...OF_WORKFLOW],
};

export const listRuns: OperationDescription = {
  operationId: 'listRuns',
  summary: 'List the runs of a workflow, newest first',
  tag: 'Runs',
  parameters: [
    workflowName,
    ...queryParameters(runListQuery.shape, {
      status: 'Only runs with this status',
      limit: 'Runs a page; 20 without it',
      cursor: '`nextCursor` of the page before',
    }),
  ],
  answers: { 200: { description: 'A page', data: runListSchema } },
  errors: OF_WORKFLOW,
};

export const startRun: OperationDescription = {
  operationId: 'startRun',
  summary: 'Start a run',
  tag: 'Runs',
  parameters: [workflowName, runId],
  answers: { 200: { description: 'Started', data: startedRunSchema } },
  errors: ['RUN_ALREADY_STARTED', 'WORKSPACE_EXPIRED', ...OF_RUN],
};

export const streamRun: OperationDescription = {
  operationId: 'streamRun',
  summary: 'Follow the events of a run',
  description:
    'Server-sent events from the first one, or from the one after `Last-Event-ID`. The stream ends with ' +
    '`workflow_complete` or `workflow_error`. The run’s result is final when either arrives.',
  tag: 'Runs',
  parameters: [
    workflowName,
    runId,
    {
      name: 'Last-Event-ID',
      in: 'header',
      description: 'Go on after this event; wins over the query',
      schema: queryInteger(0, Number.MAX_SAFE_INTEGER),
    },
    {
      name: 'lastEventId',
      in: 'query',
      description: 'The same for clients that cannot set headers',
      schema: queryInteger(0, Number.MAX_SAFE_INTEGER),
    },
  ],
  answers: {
    200: { description: 'The events', content: stream },
    204: { description: 'The run has ended and there is nothing after the event named' },
  },
  errors: ['SERVICE_UNAVAILABLE', ...OF_RUN],
};

export const getRun: OperationDescription = {
  operationId: 'getRun',
  summary: 'Show a run: status, outputs, nodes, workspace',
  tag: 'Runs',
  parameters: [workflowName, runId],
  answers: { 200: { description: 'The run', data: runResultSchema } },
  errors: OF_RUN,
};

export const getNodeLogs: OperationDescription = {
  operationId: 'getNodeLogs',
  summary: 'Read the log of a node',
  tag: 'Runs',
  parameters: [
    workflowName,
    runId,
    nodeId,
    ...queryParameters(nodeLogQuery.shape, {
      type: 'Only entries of this type',
      visit: 'Only entries of this visit',
      after: 'Only entries with a greater `seq`',
      limit: 'Entries a page; 10,000 without it',
    }),
  ],
  answers: { 200: { description: 'A page', data: nodeLogsSchema } },
  errors: ['NODE_NOT_FOUND', ...OF_RUN],
};

export const cancelRun: OperationDescription = {
  operationId: 'cancelRun',
  summary: 'Cancel a run',
  description: 'When this answers, no node starts any more and the run is FAILED with CANCELLED.',
  tag: 'Runs',
  parameters: [workflowName, runId],
  answers: { 200: { description: 'The run as it has ended', data: runResultSchema } },
  errors: ['RUN_NOT_ACTIVE', ...OF_RUN],
};

export const rerunRun: OperationDescription = {
  operationId: 'rerunRun',
  summary: 'Run again, reusing what came before a node',
  description: 'Creates a linked run with a copy of the workspace; start it like any other.',
  tag: 'Runs',
  parameters: [workflowName, runId],
  body: { required: false, content: { 'application/json': rerunRequest.meta({ id: 'RerunRequest' }) } },
  answers: { 201: { description: 'Created', data: rerunSchema } },
  errors: ['NODE_NOT_FOUND', 'RUN_NOT_ACTIVE', 'WORKSPACE_EXPIRED', 'UNSUPPORTED_MEDIA_TYPE', ...OF_RUN],
};

export const answerNode: OperationDescription = {
  operationId: 'answerNode',
  summary: 'Give a node the input that it waits for',
  tag: 'Runs',
  parameters: [workflowName, runId, nodeId],
  body: {
    required: true,
    content: {
      'application/json': z
        .looseObject({ values: jsonObject.optional() })
        .meta({ id: 'NodeInput', description: 'The fields’ values by name, below `values` or alone' }),
    },
  },
  answers: { 200: { description: 'Taken', data: acceptedInputSchema } },
  errors: ['NODE_NOT_FOUND', 'RUN_NOT_ACTIVE', 'UNSUPPORTED_MEDIA_TYPE', ...OF_RUN],
};

export const downloadWorkspace: OperationDescription = {
  operationId: 'downloadWorkspace',
  summary: 'Download the run’s files as a zip',
  tag: 'Runs',
  parameters: [workflowName, runId],
  answers: { 200: { description: 'The files', content: { 'application/zip': zipSchema } } },
  errors: ['WORKSPACE_EXPIRED', ...OF_RUN],
};
