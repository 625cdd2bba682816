import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

/** How a zod schema is shown where its own JSON Schema would mislead; given by `.meta({ openapi: … })`. */
interface SchemaMeta {
  openapi?: JsonSchema;
}

/**
 * Turns zod schemas into JSON Schemas of one OpenAPI document. A schema with `.meta({ id })` becomes a component that
 * the others refer to.
 */
export class SchemaComponents {
  readonly components: Record<string, JsonSchema> = {};

  /** `io` tells whether the schema describes what comes in or what goes out. */
  of(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
    const root = z.toJSONSchema(schema, {
      target: 'draft-2020-12',
      io,
      unrepresentable: 'any',
      override: ({ zodSchema, jsonSchema }) => adjust(zodSchema, jsonSchema as JsonSchema, io),
    }) as JsonSchema;
    for (const [name, definition] of Object.entries((root.$defs ?? {}) as Record<string, JsonSchema>)) {
      this.#add(name, definition);
    }
    if (typeof root.id !== 'string') return publish(root);
    this.#add(root.id, root);
    return { $ref: `#/components/schemas/${root.id}` };
  }

  #add(name: string, definition: JsonSchema): void {
    this.components[name] ??= publish(definition);
  }
}

function adjust(zodSchema: z.core.$ZodType, jsonSchema: JsonSchema, io: 'input' | 'output'): void {
  const { openapi } = (z.globalRegistry.get(zodSchema) ?? {}) as SchemaMeta;
  if (openapi) {
    const kept = keep(jsonSchema, ['id', 'description']);
    for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
    Object.assign(jsonSchema, kept, openapi);
  }
  // Fields may be added to answers at any time (decision 2).
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
}

function keep(from: JsonSchema, keys: readonly string[]): JsonSchema {
  return Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)));
}

/** Without zod's own keys, and with references to the components. */
function publish(schema: JsonSchema): JsonSchema {
  const shown = Object.entries(schema).filter(([key]) => !['$schema', '$defs', 'id'].includes(key));
  return pointToComponents(Object.fromEntries(shown)) as JsonSchema;
}

function pointToComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointToComponents);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace(/^#\/\$defs\//, '#/components/schemas/')
        : pointToComponents(inner),
    ]),
  );
}
