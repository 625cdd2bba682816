import { z } from 'zod';
import type { JsonObject } from '../../common/json/json-value.js';

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Any JSON object. The strict parser has looked at what is inside. */
export const jsonObject = z
  .custom<JsonObject>(isJsonObject, 'must be an object')
  .meta({ openapi: { type: 'object', additionalProperties: true } });
