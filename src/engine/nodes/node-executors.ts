import { JsonSchemaValidator } from '../../common/json-schema/index.js';
import type { ContextTokens } from '../../context-query/index.js';
import type { NodeType } from '../../workflows/graph/graph-data.js';
import type { Workspaces } from '../../runs/workspaces/workspaces.js';
import type { ChildRuns } from '../use-cases/child-runs.js';
import { AgentExecutor } from './agent.executor.js';
import { CallRuntime, type AgentRuntime } from './call-runtime.js';
import { CodeSandbox } from './code/code-sandbox.js';
import { CodeExecutor } from './code.executor.js';
import { ConditionExecutor } from './condition.executor.js';
import { DelayExecutor } from './delay.executor.js';
import { HttpExecutor, type HttpRules } from './http.executor.js';
import { HumanInputExecutor } from './human-input.executor.js';
import { IterationExecutor } from './iteration.executor.js';
import type { KnowledgeRetrieval } from './knowledge-retrieval.js';
import { KnowledgeExecutor } from './knowledge.executor.js';
import type { NodeExecutor } from './node-executor.js';
import { OutputExecutor } from './output.executor.js';
import { PlannerExecutor } from './planner.executor.js';
import { agentResolver, type AgentCatalogue } from './resolve-agent.js';
import { SmartActionExecutor } from './smart-action.executor.js';
import { SubWorkflowExecutor } from './sub-workflow.executor.js';
import { TemplateExecutor } from './template.executor.js';
import { UserInputExecutor } from './user-input.executor.js';

export interface NodeExecutorParts {
  runtime: AgentRuntime;
  tokens: ContextTokens;
  workspaces: Pick<Workspaces, 'create'>;
  children: ChildRuns;
  /** Null: only agents that are written in the graph. */
  catalogue: AgentCatalogue | null;
  /** For agents that name no model. */
  defaultModel: string | null;
  http: HttpRules;
  /** Null until a knowledge base is connected. */
  knowledge?: KnowledgeRetrieval | null;
}

export type NodeExecutors = ReadonlyMap<NodeType | 'planner', NodeExecutor>;

/** Every node type's executor. */
export function nodeExecutors(parts: NodeExecutorParts): NodeExecutors {
  const call = new CallRuntime(parts.runtime, parts.tokens, parts.workspaces);
  const resolveAgent = agentResolver(parts.catalogue, parts.defaultModel);
  const executors: NodeExecutor[] = [
    new UserInputExecutor(),
    new TemplateExecutor(),
    new ConditionExecutor(),
    new OutputExecutor(),
    new HumanInputExecutor(),
    new SubWorkflowExecutor(parts.children),
    new AgentExecutor(resolveAgent, call),
    new SmartActionExecutor(resolveAgent, call, new JsonSchemaValidator()),
    new PlannerExecutor(resolveAgent, call),
    new CodeExecutor(new CodeSandbox()),
    new HttpExecutor(parts.http),
    new KnowledgeExecutor(parts.knowledge ?? null),
    new IterationExecutor(),
    new DelayExecutor(),
  ];
  return new Map(executors.map((executor) => [executor.type, executor]));
}
