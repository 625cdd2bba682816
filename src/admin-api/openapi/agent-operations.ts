import { z } from 'zod';
import { queryParameters, type OperationDescription } from '../../common/openapi/index.js';
import {
  agentsQuery,
  bindSchema,
  newAgentSchema,
  publishSchema,
  switchSchema,
} from '../agents/agent-requests.js';
import { listQuery } from '../lists/list-query.js';
import {
  agent,
  agentSummary,
  agentVersion,
  agentVersionCopy,
  invocation,
  invocationAnswer,
  newAgentVersion,
  runtimeEvent,
  slot,
} from './agent-schemas.js';
import {
  agentKey,
  EVERY_ROUTE,
  jsonBody,
  PAGE_PARAMETERS,
  pageOf,
  slotKey,
  version,
  WITH_BODY,
} from './parameters.js';

const tag = 'Agents';
const page = queryParameters(listQuery.shape, PAGE_PARAMETERS);

export const createAgent: OperationDescription = {
  operationId: 'createAgent',
  summary: 'Create an agent, which has no version yet',
  tag,
  body: jsonBody(newAgentSchema.meta({ id: 'NewAgent' })),
  answers: { 201: { description: 'The agent', data: agent } },
  errors: ['AGENT_EXISTS', ...WITH_BODY],
};

export const listAgents: OperationDescription = {
  operationId: 'listAgents',
  summary: 'List agents by key, with their last calls',
  tag,
  parameters: queryParameters(agentsQuery.shape, {
    ...PAGE_PARAMETERS,
    archived: '`true`: archived ones too',
  }),
  answers: { 200: { description: 'A page', data: pageOf(agentSummary) } },
  errors: EVERY_ROUTE,
};

export const getAgent: OperationDescription = {
  operationId: 'getAgent',
  summary: 'Show an agent, also an archived one',
  tag,
  parameters: [agentKey],
  answers: { 200: { description: 'The agent', data: agentSummary } },
  errors: ['AGENT_NOT_FOUND', ...EVERY_ROUTE],
};

export const switchAgentVersion: OperationDescription = {
  operationId: 'switchAgentVersion',
  summary: 'Make another published version the current one',
  tag,
  parameters: [agentKey],
  body: jsonBody(switchSchema.meta({ id: 'SwitchVersion' })),
  answers: { 200: { description: 'The agent', data: agent } },
  errors: ['AGENT_NOT_FOUND', 'NOT_FOUND', 'CONFLICT', ...WITH_BODY],
};

export const archiveAgent: OperationDescription = {
  operationId: 'archiveAgent',
  summary: 'Archive an agent; its key is not given out again',
  tag,
  parameters: [agentKey],
  answers: { 200: { description: 'The agent', data: agent } },
  errors: ['AGENT_NOT_FOUND', 'CONFLICT', ...EVERY_ROUTE],
};

export const createAgentVersion: OperationDescription = {
  operationId: 'createAgentVersion',
  summary: 'Add a draft',
  tag,
  parameters: [agentKey],
  body: jsonBody(newAgentVersion),
  answers: { 201: { description: 'The draft', data: agentVersion } },
  errors: ['AGENT_NOT_FOUND', 'CONFLICT', ...WITH_BODY],
};

export const listAgentVersions: OperationDescription = {
  operationId: 'listAgentVersions',
  summary: 'List an agent’s versions, newest first',
  tag,
  parameters: [agentKey, ...page],
  answers: { 200: { description: 'A page', data: pageOf(agentVersion) } },
  errors: ['AGENT_NOT_FOUND', ...EVERY_ROUTE],
};

export const getAgentVersion: OperationDescription = {
  operationId: 'getAgentVersion',
  summary: 'Show a version',
  tag,
  parameters: [agentKey, version],
  answers: { 200: { description: 'The version', data: agentVersion } },
  errors: ['AGENT_NOT_FOUND', 'NOT_FOUND', ...EVERY_ROUTE],
};

export const publishAgentVersion: OperationDescription = {
  operationId: 'publishAgentVersion',
  summary: 'Publish a draft, which becomes the current version',
  tag,
  parameters: [agentKey, version],
  body: jsonBody(publishSchema.meta({ id: 'PublishVersion' })),
  answers: { 200: { description: 'The version', data: agentVersion } },
  errors: ['AGENT_NOT_FOUND', 'NOT_FOUND', 'CONFLICT', ...WITH_BODY],
};

export const copyAgentVersion: OperationDescription = {
  operationId: 'copyAgentVersion',
  summary: 'Make a draft from a version',
  tag,
  parameters: [agentKey, version],
  body: jsonBody(agentVersionCopy, false),
  answers: { 201: { description: 'The new draft', data: agentVersion } },
  errors: ['AGENT_NOT_FOUND', 'NOT_FOUND', 'CONFLICT', ...WITH_BODY],
};

export const getConsoleLink: OperationDescription = {
  operationId: 'getConsoleLink',
  summary: 'Where the version is configured at its provider',
  tag,
  parameters: [agentKey, version],
  answers: { 200: { description: 'The link', data: z.strictObject({ url: z.url() }) } },
  errors: ['AGENT_NOT_FOUND', 'NOT_FOUND', 'CONFLICT', ...EVERY_ROUTE],
};

export const invokeAgent: OperationDescription = {
  operationId: 'invokeAgent',
  summary: 'Call an agent’s current version, once for a command',
  description:
    'A provider’s failure is an answer too: 200 with `status` and `failure`. With `Accept: text/event-stream` the ' +
    'answer is the runtime’s events, the response in the last.',
  tag,
  parameters: [agentKey],
  body: jsonBody(invocation),
  answers: {
    200: {
      description: 'How the call ended',
      data: invocationAnswer,
      content: { 'text/event-stream': runtimeEvent },
    },
  },
  errors: ['AGENT_NOT_FOUND', 'CONFLICT', 'IDEMPOTENCY_CONFLICT', ...WITH_BODY],
};

export const listSlots: OperationDescription = {
  operationId: 'listSlots',
  summary: 'List slots by key',
  tag,
  parameters: page,
  answers: { 200: { description: 'A page', data: pageOf(slot) } },
  errors: EVERY_ROUTE,
};

export const bindSlot: OperationDescription = {
  operationId: 'bindSlot',
  summary: 'Let a slot stand for an agent',
  tag,
  parameters: [slotKey],
  body: jsonBody(bindSchema.meta({ id: 'BindSlot' })),
  answers: { 200: { description: 'The slot', data: slot } },
  errors: ['AGENT_NOT_FOUND', 'CONFLICT', ...WITH_BODY],
};
