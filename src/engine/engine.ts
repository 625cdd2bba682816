import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import type { AppConfig } from '../config/app-config.js';
import type { ContextTokens } from '../context-query/index.js';
import type { RunEventStore } from '../events/run-event-store.js';
import type { JournalWriter } from '../runs/journal/journal-writer.js';
import type { RunLeases } from '../runs/leases/run-leases.js';
import type { RunRepository } from '../runs/run.repository.js';
import type { VisitRepository } from '../runs/visit.repository.js';
import type { Workspaces } from '../runs/workspaces/workspaces.js';
import type { WorkflowRepository } from '../workflows/index.js';
import { InProcessDispatcher } from './dispatch/in-process-dispatcher.js';
import { CloseRun } from './execution/close-run.js';
import { CompiledWorkflows } from './execution/compiled-workflows.js';
import type { AfterEnd } from './execution/after-end.js';
import { ExecuteRun } from './execution/execute-run.js';
import { GiveUpRun } from './execution/give-up-run.js';
import { OrphanWatch } from './execution/orphan-watch.js';
import { LoadRun } from './execution/load-run.js';
import { ExecutionRegistry } from './execution/execution-registry.js';
import type { ExecutionServices } from './execution/execution-services.js';
import { LargeOutputs } from './execution/large-outputs.js';
import { readWaiting } from './execution/read-waiting.js';
import { RunFamily } from './execution/run-family.js';
import { WakeRun } from './execution/wake-run.js';
import type { AgentRuntime } from './nodes/call-runtime.js';
import { nodeExecutors, type NodeExecutors } from './nodes/node-executors.js';
import type { AgentCatalogue } from './nodes/resolve-agent.js';
import { AnswerHumanInput } from './use-cases/answer-human-input.js';
import { CancelRun } from './use-cases/cancel-run.js';
import { ChildRuns } from './use-cases/child-runs.js';
import { CreatedRuns } from './use-cases/created-runs.js';
import { CreateRun } from './use-cases/create-run.js';
import { RerunRun } from './use-cases/rerun-run.js';
import { StartRun } from './use-cases/start-run.js';

/** What an engine is built on. */
export interface EngineParts {
  config: AppConfig;
  logger: Logger;
  dataSource: DataSource;
  runs: RunRepository;
  visits: VisitRepository;
  leases: RunLeases;
  journals: JournalWriter;
  events: RunEventStore;
  workspaces: Workspaces;
  workflows: WorkflowRepository;
  runtime: AgentRuntime;
  tokens: ContextTokens;
  catalogue: AgentCatalogue | null;
}

/** The engine's use cases and what carries them; plain TypeScript, wired in one place. */
export interface Engine {
  createRun: CreateRun;
  startRun: StartRun;
  cancelRun: CancelRun;
  rerunRun: RerunRun;
  answerHumanInput: AnswerHumanInput;
  registry: ExecutionRegistry;
  dispatcher: InProcessDispatcher;
  orphans: OrphanWatch;
}

export function createEngine(parts: EngineParts): Engine {
  const { config, logger, dataSource, runs, visits, leases, journals, events, workspaces, workflows } = parts;
  const registry = new ExecutionRegistry(leases, logger);
  const compiled = new CompiledWorkflows(workflows, config.engine.maxVisitsPerRun);
  const services: ExecutionServices = {
    executorOf: (type) => executors.get(type),
    workspaces,
    largeOutputs: new LargeOutputs(),
    streamMergeMillis: config.engine.streamMergeMillis,
    defaultConcurrency: config.engine.runConcurrency,
    readWaiting: (runId) => readWaiting(dataSource, runId),
  };
  const afterEnd: AfterEnd = (run, graph) => family.afterEnd(run, graph);
  const loadRun = new LoadRun(visits, events, compiled, journals);
  const closeRun = new CloseRun(loadRun, afterEnd);
  const executeRun = new ExecuteRun(leases, loadRun, closeRun, registry, services, afterEnd);
  const giveUpRun = new GiveUpRun(leases, closeRun, logger);
  const dispatcher = new InProcessDispatcher(executeRun, giveUpRun, leases, registry, config.engine, logger);
  const created = new CreatedRuns();
  const createRun = new CreateRun(dataSource, runs, created);
  const startRun = new StartRun(leases, runs, dispatcher, created);
  const children = new ChildRuns(dataSource, runs, leases, workflows, createRun, startRun, workspaces);
  const wakeRun = new WakeRun(leases, registry, dispatcher);
  const cancelRun = new CancelRun(leases, runs, registry, closeRun);
  const family: RunFamily = new RunFamily(children, wakeRun, cancelRun);
  const executors: NodeExecutors = nodeExecutors({
    ...parts,
    children,
    defaultModel: config.hermes.llm.model,
    http: config.engine.http,
  });
  return {
    createRun,
    startRun,
    cancelRun,
    rerunRun: new RerunRun(runs, visits, workflows, workspaces, createRun),
    answerHumanInput: new AnswerHumanInput(dataSource, runs, visits, leases, compiled, wakeRun),
    registry,
    dispatcher,
    orphans: new OrphanWatch(family, logger),
  };
}
