import type { ContextTokens } from '../../context-query/index.js';
import type { NodeType } from '../../workflows/graph/graph-data.js';
import type { ChildRuns } from '../use-cases/child-runs.js';
import { AgentExecutor } from './agent.executor.js';
import { CallRuntime, type AgentRuntime } from './call-runtime.js';
import { ConditionExecutor } from './condition.executor.js';
import { HumanInputExecutor } from './human-input.executor.js';
import type { NodeExecutor } from './node-executor.js';
import { OutputExecutor } from './output.executor.js';
import { agentResolver, type AgentCatalogue } from './resolve-agent.js';
import { SubWorkflowExecutor } from './sub-workflow.executor.js';
import { TemplateExecutor } from './template.executor.js';
import { UserInputExecutor } from './user-input.executor.js';

export interface NodeExecutorParts {
  runtime: AgentRuntime;
  tokens: ContextTokens;
  children: ChildRuns;
  /** Null: only agents that are written in the graph. */
  catalogue: AgentCatalogue | null;
  /** For agents that name no model. */
  defaultModel: string | null;
}

export type NodeExecutors = ReadonlyMap<NodeType | 'planner', NodeExecutor>;

/** Every node type's executor. */
export function nodeExecutors(parts: NodeExecutorParts): NodeExecutors {
  const call = new CallRuntime(parts.runtime, parts.tokens);
  const executors: NodeExecutor[] = [
    new UserInputExecutor(),
    new TemplateExecutor(),
    new ConditionExecutor(),
    new OutputExecutor(),
    new HumanInputExecutor(),
    new SubWorkflowExecutor(parts.children),
    new AgentExecutor(agentResolver(parts.catalogue, parts.defaultModel), call),
  ];
  return new Map(executors.map((executor) => [executor.type, executor]));
}
