import { z } from 'zod';
import type { ErrorCode } from '../../common/errors/domain-error.js';
import type { ParameterDescription } from '../../common/openapi/index.js';

/** What any route of /admin/v1 may answer. */
export const EVERY_ROUTE: readonly ErrorCode[] = [
  'VALIDATION_FAILED',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];
/** What a route with a JSON body may answer. */
export const WITH_BODY: readonly ErrorCode[] = [
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  ...EVERY_ROUTE,
];

function pathParameter(name: string, description: string): ParameterDescription {
  return { name, in: 'path', description, schema: z.string() };
}

export const nameOrId = pathParameter('nameOrId', 'A workflow’s name, or its id where no name matches');
export const agentKey = pathParameter('agentKey', 'Key of an agent');
export const slotKey = pathParameter('slotKey', 'Key of a slot');
export const version: ParameterDescription = {
  ...pathParameter('version', 'Number of a version'),
  schema: z.int().min(1),
};
export const keyId = pathParameter('id', 'Id of an API key');
export const runId = pathParameter('runId', 'Opaque id of a run');
export const commandId = pathParameter('commandId', 'The command that a call belongs to');

/** Of every list. */
export const PAGE_PARAMETERS = {
  cursor: '`nextCursor` of the page before',
  limit: 'Entries a page, 1 to 100; 50 by default',
};

/** One page of a list. */
export function pageOf<S extends z.ZodType>(item: S) {
  return z.strictObject({
    items: z.array(item),
    nextCursor: z.string().nullable().describe('`cursor` of the next page; null: there is none'),
  });
}

export const time = z.iso.datetime().describe('ISO-8601, UTC');
/** JSON of any shape. */
export const anyObject = z.record(z.string(), z.unknown());

export function jsonBody(schema: z.ZodType, required = true) {
  return { required, content: { 'application/json': schema } };
}
