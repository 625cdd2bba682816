/** This engine in one process, through its public use cases, with logs and events stored as in production. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { loadConfig } from '../../dist/config/load-config.js';
import { ContextTokens } from '../../dist/context-query/index.js';
import { createDataSource } from '../../dist/database/data-source.js';
import { runMigrations } from '../../dist/database/run-migrations.js';
import { createEngine } from '../../dist/engine/index.js';
import { RunEventBus } from '../../dist/events/run-event-bus.js';
import { RunEventStore } from '../../dist/events/run-event-store.js';
import { JournalWriter } from '../../dist/runs/journal/journal-writer.js';
import { RunLeases } from '../../dist/runs/leases/run-leases.js';
import { RunConnections } from '../../dist/runs/run-connections.js';
import { RunRepository } from '../../dist/runs/run.repository.js';
import { VisitRepository } from '../../dist/runs/visit.repository.js';
import { Workspaces } from '../../dist/runs/workspaces/workspaces.js';
import { WorkflowRepository } from '../../dist/workflows/index.js';
import { chainGraph, fanGraph, loopGraph } from './graphs.js';

export async function openEngine(url, { maxVisitsPerRun = 200 } = {}) {
  const root = await mkdtemp(path.join(tmpdir(), 'bench-engine-'));
  const { config } = loadConfig({
    NODE_ENV: 'test',
    DATA_DIR: root,
    ENGINE_MAX_VISITS_PER_RUN: String(maxVisitsPerRun),
    ENGINE_RUN_CONCURRENCY: '64',
  });
  const dataSource = createDataSource(url, 10);
  await dataSource.initialize();
  await runMigrations(dataSource);
  const connections = new RunConnections(url);
  const bus = new RunEventBus();
  const ends = new Map();
  bus.subscribe('bench', ({ runId, event }) => {
    if (event.kind !== 'run-finished') return;
    const end = ends.get(runId);
    ends.delete(runId);
    if (event.status === 'SUCCESS') end?.resolve();
    else end?.reject(new Error(event.error));
  });
  const { createRun, startRun, dispatcher } = createEngine({
    config,
    logger: pino({ level: 'warn' }),
    dataSource,
    runs: new RunRepository(dataSource, connections),
    visits: new VisitRepository(dataSource),
    leases: new RunLeases(dataSource, connections, 'bench', 30),
    journals: new JournalWriter(connections.journal, (event) => bus.publish(event)),
    events: new RunEventStore(dataSource),
    workspaces: new Workspaces(root),
    workflows: new WorkflowRepository(dataSource),
    runtime: { execute: () => [] },
    tokens: new ContextTokens({ ...config.hermes.contextQuery, enabled: false }, () => null),
    catalogue: null,
  });
  await dispatcher.start();

  async function workflow(name, mode, graphData) {
    const [row] = await dataSource.query(
      `INSERT INTO workflows (name, display_name, description, current_version, created_at, updated_at)
       VALUES ($1, $2, '""', 1, now(), now()) RETURNING id`,
      [`${name}-${Date.now()}`, JSON.stringify(name)],
    );
    await dataSource.query(
      `INSERT INTO workflow_versions (workflow_id, version, mode, graph_data, settings, created_at)
       VALUES ($1, 1, $2, $3, '{}', now())`,
      [row.id, mode, JSON.stringify(graphData)],
    );
    return new WorkflowRepository(dataSource).findVersion(row.id, 1);
  }

  /** Create, start, wait for the terminal event, which comes when everything is stored. */
  async function run(definition) {
    const { runId } = await createRun.execute({
      workflow: definition,
      variables: {},
      ttlHours: 720,
      apiKeyName: null,
    });
    const ended = new Promise((resolve, reject) => ends.set(runId, { resolve, reject }));
    await startRun.execute(runId);
    await ended;
  }

  const chain = await workflow('chain', 'DAG', chainGraph());
  const fan = await workflow('fan', 'DAG', fanGraph());
  const loops = new Map();
  async function loop(visits) {
    if (!loops.has(visits)) loops.set(visits, await workflow(`loop-${visits}`, 'AGENTIC', loopGraph(visits)));
    await run(loops.get(visits));
  }
  return {
    name: 'agent-management',
    chain: () => run(chain),
    fan: () => run(fan),
    loop: () => loop(100),
    loopOf: loop,
    close: async () => {
      await dispatcher.stop();
      await connections.close();
      await dataSource.destroy();
      await rm(root, { recursive: true, force: true });
    },
  };
}
