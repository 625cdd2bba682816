import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import type { JsonObject } from '../../../src/common/json/json-value.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { ContextTokens } from '../../../src/context-query/index.js';
import { createEngine, type AgentCatalogue, type Engine } from '../../../src/engine/index.js';
import { RunEventBus } from '../../../src/events/run-event-bus.js';
import { RunEventStore } from '../../../src/events/run-event-store.js';
import type { RecordedRunEvent } from '../../../src/events/run-event.js';
import { JournalWriter } from '../../../src/runs/journal/journal-writer.js';
import { RunLeases } from '../../../src/runs/leases/run-leases.js';
import type { RunEntity } from '../../../src/runs/run.entity.js';
import { RunConnections } from '../../../src/runs/run-connections.js';
import { RunRepository } from '../../../src/runs/run.repository.js';
import type { VisitEntity } from '../../../src/runs/visit.entity.js';
import { VisitRepository } from '../../../src/runs/visit.repository.js';
import { Workspaces } from '../../../src/runs/workspaces/workspaces.js';
import type {
  GraphData,
  WorkflowDefinition,
  WorkflowMode,
  WorkflowSettings,
} from '../../../src/workflows/index.js';
import { WorkflowRepository } from '../../../src/workflows/index.js';
import type { TestDatabase } from '../test-database.js';
import { ScriptedRuntime } from './scripted-runtime.js';
import { PATIENCE_MILLIS } from '../patience.js';

export interface EndedRun {
  run: RunEntity;
  visits: VisitEntity[];
  /** The visit of each node, the last one where there were several. */
  visit: (nodeId: string) => VisitEntity | undefined;
}

/** An engine as the server has it, on a test database, with scripted agents instead of a bridge. */
export class TestEngine {
  readonly bus = new RunEventBus();
  readonly runtime = new ScriptedRuntime();
  readonly events: RecordedRunEvent[] = [];
  readonly engine: Engine;
  readonly runs: RunRepository;
  readonly visits: VisitRepository;
  readonly leases: RunLeases;
  readonly workspaces: Workspaces;
  readonly connections: RunConnections;
  readonly store: RunEventStore;
  readonly workflows: WorkflowRepository;
  readonly tokens: ContextTokens;
  #names = 0;

  private constructor(
    readonly database: TestDatabase,
    readonly workspacesRoot: string,
    options: {
      owner?: string;
      leaseSeconds?: number;
      catalogue?: AgentCatalogue;
      maxActiveRuns?: number;
    } = {},
  ) {
    const { dataSource } = database;
    const { config } = loadConfig({
      NODE_ENV: 'test',
      DATA_DIR: workspacesRoot,
      ENGINE_SWEEP_SECONDS: '0.05',
      ENGINE_STREAM_MERGE_MILLIS: '5',
      ENGINE_MAX_ACTIVE_RUNS: String(options.maxActiveRuns ?? 256),
    });
    this.connections = new RunConnections(database.url);
    this.runs = new RunRepository(dataSource, this.connections);
    this.visits = new VisitRepository(dataSource);
    this.leases = new RunLeases(
      dataSource,
      this.connections,
      options.owner ?? 'test',
      options.leaseSeconds ?? 5,
    );
    this.workspaces = new Workspaces(workspacesRoot);
    this.store = new RunEventStore(dataSource);
    this.workflows = new WorkflowRepository(dataSource);
    const journals = new JournalWriter(this.connections.journal, (event) => this.bus.publish(event));
    this.bus.subscribe('test', (event) => this.events.push(event));
    this.tokens = new ContextTokens(
      {
        enabled: true,
        tokenTtlSeconds: 120,
        cleanupIntervalSeconds: 60,
        maxTokensPerVisit: 4,
        sliding: true,
      },
      () => 'http://127.0.0.1:1',
    );
    this.engine = createEngine({
      config,
      logger: pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
      dataSource,
      runs: this.runs,
      visits: this.visits,
      leases: this.leases,
      journals,
      events: this.store,
      workspaces: this.workspaces,
      workflows: this.workflows,
      runtime: this.runtime,
      tokens: this.tokens,
      catalogue: options.catalogue ?? null,
    });
  }

  static async start(
    database: TestDatabase,
    options: {
      owner?: string;
      leaseSeconds?: number;
      workspacesRoot?: string;
      catalogue?: AgentCatalogue;
      maxActiveRuns?: number;
    } = {},
  ): Promise<TestEngine> {
    const root = options.workspacesRoot ?? (await mkdtemp(path.join(tmpdir(), 'engine-')));
    const test = new TestEngine(database, root, options);
    await test.engine.dispatcher.start();
    return test;
  }

  async stop(): Promise<void> {
    await this.engine.dispatcher.stop();
    await this.connections.close();
    await rm(this.workspacesRoot, { recursive: true, force: true });
  }

  /** Stores a definition as it is, without judging it. */
  async workflow(
    graphData: GraphData,
    options: { mode?: WorkflowMode; settings?: WorkflowSettings; name?: string } = {},
  ): Promise<WorkflowDefinition> {
    const name = options.name ?? `flow-${(this.#names += 1)}-${Date.now().toString(36)}`;
    const now = new Date();
    const rows = await this.database.dataSource.query<{ id: string }[]>(
      `INSERT INTO workflows (name, display_name, description, current_version, created_at, updated_at)
       VALUES ($1, $2, '""', 1, $3, $3) RETURNING id`,
      [name, JSON.stringify(name), now],
    );
    await this.database.dataSource.query(
      `INSERT INTO workflow_versions (workflow_id, version, mode, graph_data, settings, created_at)
       VALUES ($1, 1, $2, $3, $4, $5)`,
      [
        rows[0]?.id,
        options.mode ?? 'DAG',
        JSON.stringify(graphData),
        JSON.stringify(options.settings ?? {}),
        now,
      ],
    );
    const found = await this.workflows.findByNameOrId(name);
    if (!found) throw new Error('the workflow was not stored');
    return found;
  }

  async create(workflow: WorkflowDefinition, variables: JsonObject = {}): Promise<string> {
    const { runId } = await this.engine.createRun.execute({
      workflow,
      variables,
      ttlHours: 1,
      apiKeyName: null,
    });
    await this.workspaces.create(runId);
    return runId;
  }

  async start(workflow: WorkflowDefinition, variables: JsonObject = {}): Promise<string> {
    const runId = await this.create(workflow, variables);
    await this.engine.startRun.execute(runId);
    return runId;
  }

  async runToEnd(workflow: WorkflowDefinition, variables: JsonObject = {}): Promise<EndedRun> {
    return this.end(await this.start(workflow, variables));
  }

  /** Waits for the run's terminal event, here or in another engine on the same database. */
  async end(runId: string): Promise<EndedRun> {
    await this.until(async () => {
      // Not the run itself: its variables may be megabytes.
      const [run] = await this.database.dataSource.query<{ status: string }[]>(
        'SELECT status FROM runs WHERE run_id = $1',
        [runId],
      );
      return run?.status === 'SUCCESS' || run?.status === 'FAILED';
    }, `the end of run ${runId}`);
    const run = await this.runs.find(runId);
    if (!run) throw new Error('no run');
    const visits = await this.visits.ofRun(runId);
    return { run, visits, visit: (nodeId) => visits.findLast((visit) => visit.nodeId === nodeId) };
  }

  /** Resolves when nobody holds the run and this engine executes nothing. */
  untilResting(runId: string): Promise<void> {
    return this.until(
      async () => (await this.runs.find(runId))?.leaseOwner === null && this.engine.registry.size === 0,
      'the run to rest',
    );
  }

  /** Looks again whenever something was recorded, and at short intervals for what other engines do. */
  async until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const deadline = Date.now() + PATIENCE_MILLIS;
    while (!(await holds())) {
      if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          subscription.unsubscribe();
          resolve();
        };
        const timer = setTimeout(done, 50);
        const subscription = this.bus.subscribe('until', done);
      });
    }
  }

  /** Waits until a visit of the node has begun. */
  untilBegun(runId: string, nodeId: string): Promise<void> {
    return this.until(
      () =>
        this.events.some(
          ({ runId: id, event }) =>
            id === runId && event.kind === 'visit-started' && event.visit.nodeId === nodeId,
        ),
      `${nodeId} to begin`,
    );
  }
}
