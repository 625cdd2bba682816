import { z } from 'zod';
import { missingIsRequired, zodFieldErrors } from '../../../common/errors/zod-field-errors.js';
import type { FieldError } from '../../../common/errors/domain-error.js';
import type { NodeType } from '../graph-data.js';
import { commonShape } from './common-data.js';

/** What a node's `data` says about how the node stands in its graph. Fields are dotted paths into `data`. */
export interface NodeReading {
  /** Texts that are rendered when the node runs. */
  templates: readonly { readonly field: string; readonly text: string }[];
  /** Plain references such as a condition's `variable`: `node.key`. */
  references: readonly { readonly field: string; readonly path: string }[];
  /** Outcomes that edges may name as `sourceHandle`; null: the node has none. */
  handles: readonly string[] | null;
  /** Rules that a schema of single keys cannot say. */
  problems: readonly FieldError[];
  /** Why a node that is sound cannot run in this version all the same; null: it can (decision 6). */
  readonly unavailable: FieldError | null;
  /** A graph within the node, yet to be validated. */
  subGraph: { readonly field: string; readonly graph: unknown } | null;
}

/** What the product knows of a node type, apart from how it runs. */
export interface NodeTypeDefinition {
  readonly type: NodeType;
  /** The whole `data`, strict. */
  readonly schema: z.ZodObject;
  /** Reads what is sound in `data`; keys that are not are left to the schema's own errors. */
  read(data: Readonly<Record<string, unknown>>): NodeReading;
}

/** `data` of a node type as its executor finds it. */
export type NodeData<D extends { readonly schema: z.ZodObject }> = z.infer<D['schema']>;

/**
 * Makes a definition of a node type from its own keys; those of all nodes are added. `inspect` gets the keys that
 * fit their schemas: whatever else is wrong, every problem of the others is found.
 */
export function defineNodeType<S extends z.ZodRawShape>(options: {
  readonly type: NodeType;
  readonly shape: S;
  readonly inspect?: (data: Partial<z.infer<z.ZodObject<S>>>) => Partial<NodeReading>;
}) {
  const shape = { ...commonShape, ...options.shape };
  const schema = z.strictObject(shape);
  return {
    type: options.type,
    schema,
    read(data: Readonly<Record<string, unknown>>): NodeReading {
      const result = schema.safeParse(data, { error: missingIsRequired });
      const sound = result.success ? result.data : soundKeys(shape, data);
      const reading = options.inspect?.(sound as Partial<z.infer<z.ZodObject<S>>>) ?? {};
      const problems = result.success ? [] : zodFieldErrors(result.error);
      return {
        templates: [],
        references: [],
        handles: null,
        unavailable: null,
        subGraph: null,
        ...reading,
        problems: [...problems, ...(reading.problems ?? [])],
      };
    },
  };
}

function soundKeys(shape: z.ZodRawShape, data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const sound: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(shape)) {
    if (!Object.hasOwn(data, key)) continue;
    const result = z.safeParse(schema, data[key]);
    if (result.success) sound[key] = result.data;
  }
  return sound;
}
