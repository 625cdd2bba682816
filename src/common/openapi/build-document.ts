import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { z } from 'zod';
import type { ErrorCode } from '../errors/domain-error.js';
import { ERROR_STATUS } from '../http/error-status.js';
import { OPERATION, type AnswerDescription, type OperationDescription } from './operation.js';
import { SchemaComponents, type JsonSchema } from './schema-components.js';

/** What the document says about itself. */
export interface DocumentDescription {
  title: string;
  version: string;
  description: string;
  /** `identifier` is an SPDX expression. */
  license: { name: string; identifier: string };
  tags: readonly { name: string; description: string }[];
  /** The header that carries the key, and the name of its security scheme. */
  apiKey: { scheme: string; header: string };
  /** Added to the description of a route, by its handler and controller; undefined: nothing. */
  note?: (handler: object, controller: Type) => string | undefined;
}

export type OpenApiDocument = JsonSchema & {
  openapi: string;
  info: JsonSchema;
  paths: Record<string, Record<string, JsonSchema>>;
};

const errorSchema = z
  .object({
    code: z.string().describe('A stable code'),
    message: z.string().describe('For people'),
    data: z.null(),
    details: z.unknown().optional().describe('More about it, for some codes'),
  })
  .meta({ id: 'Error', description: 'The envelope of every error' });

/** Writes the OpenAPI 3.1 document of the controllers' routes that carry `@Describe`. */
export function buildDocument(
  description: DocumentDescription,
  controllers: readonly Type[],
): OpenApiDocument {
  const schemas = new SchemaComponents();
  const paths: OpenApiDocument['paths'] = {};
  for (const { path, method, operation, handler, controller } of controllers.flatMap(describedRoutes)) {
    const note = description.note?.(handler, controller);
    const text = [operation.description, note].filter((part) => part !== undefined).join('\n\n');
    const noted = text === '' ? operation : { ...operation, description: text };
    (paths[path] ??= {})[method] = writeOperation(noted, schemas, description.apiKey.scheme);
  }
  const { title, version, apiKey } = description;
  return {
    openapi: '3.1.0',
    info: { title, version, description: description.description, license: description.license },
    servers: [{ url: '/', description: 'This server' }],
    tags: description.tags,
    paths,
    components: {
      securitySchemes: { [apiKey.scheme]: { type: 'apiKey', in: 'header', name: apiKey.header } },
      schemas: schemas.components,
    },
  };
}

interface DescribedRoute {
  path: string;
  method: string;
  operation: OperationDescription;
  handler: object;
  controller: Type;
}

function describedRoutes(controller: Type): DescribedRoute[] {
  const base = Reflect.getMetadata(PATH_METADATA, controller) as string;
  const prototype = controller.prototype as Record<string, object>;
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler = name === 'constructor' ? undefined : prototype[name];
    if (handler === undefined) return [];
    const operation = Reflect.getMetadata(OPERATION, handler) as OperationDescription | undefined;
    if (operation === undefined) return [];
    const path = Reflect.getMetadata(PATH_METADATA, handler) as string;
    const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod;
    return [
      {
        path: openApiPath(base, path),
        method: RequestMethod[method].toLowerCase(),
        operation,
        handler,
        controller,
      },
    ];
  });
}

/** `api/x` and `:id/y` become `/api/x/{id}/y`. */
function openApiPath(base: string, path: string): string {
  const joined = `/${base}/${path}`.replace(/\/+/g, '/').replace(/(.)\/$/, '$1');
  return joined.replace(/:(\w+)/g, '{$1}');
}

function writeOperation(
  operation: OperationDescription,
  schemas: SchemaComponents,
  scheme: string,
): JsonSchema {
  const { operationId, summary, description, tag, parameters = [], body, answers, errors } = operation;
  const responses: Record<string, JsonSchema> = {};
  for (const [status, answer] of Object.entries(answers)) responses[status] = writeAnswer(answer, schemas);
  for (const [status, codes] of byStatus(errors)) {
    responses[status] = {
      description: codes.map((code) => `\`${code}\``).join(', '),
      content: { 'application/json': { schema: schemas.of(errorSchema, 'output') } },
    };
  }
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    security: [{ [scheme]: [] }],
    parameters: parameters.map(({ schema, ...parameter }) => ({
      ...parameter,
      required: parameter.in === 'path' || parameter.required === true,
      schema: schemas.of(schema, 'input'),
    })),
    ...(body ? { requestBody: { ...body, content: writeContent(body.content, 'input', schemas) } } : {}),
    responses,
  };
}

function writeAnswer({ description, data, content, headers }: AnswerDescription, schemas: SchemaComponents) {
  const envelope = data && z.object({ code: z.literal('OK'), message: z.string(), data });
  const all = { ...(envelope ? { 'application/json': envelope } : {}), ...content };
  return {
    description,
    ...(headers
      ? {
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, header]) => [
              name,
              { description: header.description, schema: schemas.of(header.schema, 'output') },
            ]),
          ),
        }
      : {}),
    ...(Object.keys(all).length === 0 ? {} : { content: writeContent(all, 'output', schemas) }),
  };
}

function writeContent(
  content: Readonly<Record<string, z.ZodType>>,
  io: 'input' | 'output',
  schemas: SchemaComponents,
): JsonSchema {
  return Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [type, { schema: schemas.of(schema, io) }]),
  );
}

function byStatus(codes: readonly ErrorCode[]): Map<string, ErrorCode[]> {
  const statuses = new Map<string, ErrorCode[]>();
  for (const code of codes) {
    const status = String(ERROR_STATUS[code]);
    statuses.set(status, [...(statuses.get(status) ?? []), code]);
  }
  return statuses;
}
