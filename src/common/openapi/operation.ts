import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { z } from 'zod';
import type { ErrorCode } from '../errors/domain-error.js';

/** A parameter in the path, the query or a header. */
export interface ParameterDescription {
  name: string;
  in: 'path' | 'query' | 'header';
  description: string;
  schema: z.ZodType;
  /** Path parameters always are. */
  required?: boolean;
}

export interface HeaderDescription {
  description: string;
  schema: z.ZodType;
}

/** A successful answer. */
export interface AnswerDescription {
  description: string;
  /** `data` of the envelope; the answer is then JSON. */
  data?: z.ZodType;
  /** Answers that are not in the envelope, by media type. */
  content?: Readonly<Record<string, z.ZodType>>;
  headers?: Readonly<Record<string, HeaderDescription>>;
}

/** What the OpenAPI document says about one route. Path and method come from Nest's own decorators. */
export interface OperationDescription {
  /** Name of the function in generated clients; unique. */
  operationId: string;
  summary: string;
  description?: string;
  tag: string;
  parameters?: readonly ParameterDescription[];
  /** Bodies that are taken, by media type. */
  body?: { required: boolean; content: Readonly<Record<string, z.ZodType>> };
  answers: Readonly<Record<number, AnswerDescription>>;
  /** Codes of the error envelope; their statuses follow from them. */
  errors: readonly ErrorCode[];
}

export const OPERATION = Symbol('OpenApiOperation');

/** Puts a route into the OpenAPI document: `@Describe(listRuns)`. */
export function Describe(operation: OperationDescription): CustomDecorator<symbol> {
  return SetMetadata(OPERATION, operation);
}
