import type { GraphData, InputField } from '../graph/graph-data.js';

/** What the external list says of an output: its name and what the graph's author wrote about it. */
export interface OutputField {
  name: string;
  type?: string;
  label?: string;
  description?: string;
}

/** What the workflow asks for: the fields of its `userInput` node. */
export function inputFields({ nodes }: GraphData): InputField[] {
  const input = nodes.find(({ type }) => type === 'userInput');
  return (input?.data.fields ?? []) as unknown as InputField[];
}

/** What the workflow gives: the fields of its `output` nodes, each name once. */
export function outputFields({ nodes }: GraphData): OutputField[] {
  const fields = new Map<string, OutputField>();
  for (const node of nodes) {
    if (node.type !== 'output') continue;
    for (const { name, type, label, description } of (node.data.fields ?? []) as unknown as OutputField[]) {
      if (fields.has(name)) continue;
      fields.set(name, {
        name,
        ...(type === undefined ? {} : { type }),
        ...(label === undefined ? {} : { label }),
        ...(description === undefined ? {} : { description }),
      });
    }
  }
  return [...fields.values()];
}
