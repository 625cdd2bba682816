import { z } from 'zod';

/** What the configuration's loader needs to know of a schema: how its keys are named and what text may become. */
export type SchemaShape =
  | { readonly kind: 'object'; readonly fields: Readonly<Record<string, z.ZodType>> }
  | { readonly kind: 'record'; readonly value: z.ZodType }
  | { readonly kind: 'list'; readonly element: z.ZodType }
  | { readonly kind: 'scalar'; readonly types: ReadonlySet<'string' | 'number' | 'boolean' | 'null'> };

/** Looks through optional, nullable, default and piped schemas. */
export function shapeOf(schema: z.ZodType): SchemaShape {
  if (schema instanceof z.ZodObject) return { kind: 'object', fields: schema.shape };
  if (schema instanceof z.ZodRecord) return { kind: 'record', value: schema.valueType as z.ZodType };
  if (schema instanceof z.ZodArray) return { kind: 'list', element: schema.element as z.ZodType };
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return shapeOf(schema.unwrap() as z.ZodType);
  }
  if (schema instanceof z.ZodNullable) {
    const inner = shapeOf(schema.unwrap() as z.ZodType);
    return inner.kind === 'scalar' ? { kind: 'scalar', types: new Set([...inner.types, 'null']) } : inner;
  }
  if (schema instanceof z.ZodPipe) return shapeOf(schema.in as z.ZodType);
  if (schema instanceof z.ZodUnion) return unionShape(schema.options as readonly z.ZodType[]);
  if (schema instanceof z.ZodNumber) return { kind: 'scalar', types: new Set(['number']) };
  if (schema instanceof z.ZodBoolean) return { kind: 'scalar', types: new Set(['boolean']) };
  return { kind: 'scalar', types: new Set(['string']) };
}

function unionShape(options: readonly z.ZodType[]): SchemaShape {
  const shapes = options.map(shapeOf);
  const structured = shapes.find((shape) => shape.kind !== 'scalar');
  if (structured) return structured;
  return {
    kind: 'scalar',
    types: new Set(shapes.flatMap((shape) => (shape.kind === 'scalar' ? [...shape.types] : []))),
  };
}
