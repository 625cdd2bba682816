import { readFile } from 'node:fs/promises';
import { ScriptedRuntime } from '../../../test/support/engine/scripted-runtime.js';
import type { ContextTokens } from '../../context-query/index.js';
import { NODE_TYPES, type NodeType } from '../../workflows/graph/graph-data.js';
import { nodeTypes } from '../../workflows/graph/node-types/node-types.js';
import type { ChildRuns } from '../use-cases/child-runs.js';
import { nodeExecutors } from './node-executors.js';

describe('node types', () => {
  it('all have an executor', () => {
    const executors = nodeExecutors({
      runtime: new ScriptedRuntime(),
      workspaces: { create: () => Promise.resolve('') },
      tokens: {} as ContextTokens,
      children: {} as ChildRuns,
      catalogue: null,
      defaultModel: null,
      http: { allowedHosts: [] },
    });
    expect([...executors.keys()].sort()).toEqual([...NODE_TYPES, 'planner'].sort());
  });

  it('are documented, each with an example that is valid', async () => {
    const text = await readFile(new URL('../../../docs/node-types.md', import.meta.url), 'utf8');
    const sections = text.split(/^## /m);
    for (const type of NODE_TYPES) {
      const section = sections.find((one) => one.startsWith(`${type}\n`)) ?? '';
      const examples = [...section.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = '']) => {
        return JSON.parse(json) as { id: string; type: NodeType; data: Record<string, unknown> };
      });
      expect([type, examples.length]).toEqual([type, 1]);
      for (const example of examples) {
        expect(example.type).toBe(type);
        expect([type, nodeTypes[type].read(example.data).problems]).toEqual([type, []]);
      }
    }
  });
});
