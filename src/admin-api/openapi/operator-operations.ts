import { z } from 'zod';
import { queryParameters, type OperationDescription } from '../../common/openapi/index.js';
import { auditQuery } from '../audit/audit-query.js';
import { listQuery } from '../lists/list-query.js';
import { runListQuery } from '../runs/run-list-query.js';
import { callsQuery } from '../runtime-calls/calls-query.js';
import { usageQuery } from '../usage/usage-query.js';
import {
  apiKey,
  auditRecord,
  chainVerdict,
  createdApiKey,
  credential,
  newApiKey,
  run,
  runSummary,
  runtimeCall,
  runtimeCallDetail,
  usageReport,
} from './operator-schemas.js';
import {
  commandId,
  EVERY_ROUTE,
  jsonBody,
  keyId,
  PAGE_PARAMETERS,
  pageOf,
  runId,
  WITH_BODY,
} from './parameters.js';

export const createApiKey: OperationDescription = {
  operationId: 'createApiKey',
  summary: 'Create a key of /api/v1; it is shown this once',
  tag: 'API keys',
  body: jsonBody(newApiKey),
  answers: { 201: { description: 'The key', data: createdApiKey } },
  errors: ['CONFLICT', ...WITH_BODY],
};

export const listApiKeys: OperationDescription = {
  operationId: 'listApiKeys',
  summary: 'List living keys, newest first',
  tag: 'API keys',
  parameters: queryParameters(listQuery.shape, PAGE_PARAMETERS),
  answers: { 200: { description: 'A page', data: pageOf(apiKey) } },
  errors: EVERY_ROUTE,
};

export const revokeApiKey: OperationDescription = {
  operationId: 'revokeApiKey',
  summary: 'Revoke a key; it ends at once, in every process',
  tag: 'API keys',
  parameters: [keyId],
  answers: { 200: { description: 'Revoked', data: z.strictObject({ id: z.string() }) } },
  errors: ['NOT_FOUND', ...EVERY_ROUTE],
};

export const listRuns: OperationDescription = {
  operationId: 'listRuns',
  summary: 'List the runs of all workflows, newest first',
  tag: 'Runs',
  parameters: queryParameters(runListQuery.shape, {
    ...PAGE_PARAMETERS,
    workflow: 'Of this workflow: its name or id',
    status: 'Of this status',
  }),
  answers: { 200: { description: 'A page', data: pageOf(runSummary) } },
  errors: ['WORKFLOW_NOT_FOUND', ...EVERY_ROUTE],
};

export const getRun: OperationDescription = {
  operationId: 'getRun',
  summary: 'Show a run with its visits',
  tag: 'Runs',
  parameters: [runId],
  answers: { 200: { description: 'The run', data: run } },
  errors: ['RUN_NOT_FOUND', ...EVERY_ROUTE],
};

export const listRuntimeCalls: OperationDescription = {
  operationId: 'listRuntimeCalls',
  summary: 'List calls of agent runtimes, newest first',
  tag: 'Calls and usage',
  parameters: queryParameters(callsQuery.shape, {
    ...PAGE_PARAMETERS,
    runId: 'Of this run',
    nodeId: 'Of this node',
    agentKey: 'Of this agent',
    provider: 'Of this provider',
    status: 'Of this status',
  }),
  answers: { 200: { description: 'A page', data: pageOf(runtimeCall) } },
  errors: EVERY_ROUTE,
};

export const getRuntimeCall: OperationDescription = {
  operationId: 'getRuntimeCall',
  summary: 'Show a call with what was allowed to leave and what was sent, by digests',
  tag: 'Calls and usage',
  parameters: [commandId],
  answers: { 200: { description: 'The call', data: runtimeCallDetail } },
  errors: ['NOT_FOUND', ...EVERY_ROUTE],
};

export const getUsage: OperationDescription = {
  operationId: 'getUsage',
  summary: 'Sum calls, tokens, time and cost up',
  tag: 'Calls and usage',
  parameters: queryParameters(usageQuery.shape, {
    ...PAGE_PARAMETERS,
    groupBy: 'Comma-separated: day, agent, workflow, provider; the first three by default',
    from: 'A date or time, inclusive; thirty days before `to` by default',
    to: 'A date or time, exclusive; now by default',
    agentKey: 'Of this agent',
    workflow: 'Of this workflow, by name',
  }),
  answers: { 200: { description: 'A page of groups', data: usageReport } },
  errors: EVERY_ROUTE,
};

export const listCredentials: OperationDescription = {
  operationId: 'listCredentials',
  summary: 'List the configured credentials, without their values',
  tag: 'Credentials',
  answers: { 200: { description: 'All of them', data: z.array(credential) } },
  errors: EVERY_ROUTE,
};

export const listAuditLogs: OperationDescription = {
  operationId: 'listAuditLogs',
  summary: 'List who changed what, newest first',
  tag: 'Audit',
  parameters: queryParameters(auditQuery.shape, {
    ...PAGE_PARAMETERS,
    action: 'Of this action, such as `agent.published`',
    actor: 'By the key of this name',
    subjectType: 'About subjects of this type',
    subjectId: 'About this subject',
    from: 'Inclusive',
    to: 'Exclusive',
  }),
  answers: { 200: { description: 'A page', data: pageOf(auditRecord) } },
  errors: EVERY_ROUTE,
};

export const verifyAuditLogs: OperationDescription = {
  operationId: 'verifyAuditLogs',
  summary: 'Prove that nobody changed the audit log',
  tag: 'Audit',
  answers: { 200: { description: 'What was found', data: chainVerdict } },
  errors: EVERY_ROUTE,
};
