import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTestDatabase, type TestDatabase } from '../test-database.js';
import { TestEngine } from './test-engine.js';

/** Engines that share one database and one folder of workspaces, as servers of one installation do. */
export class TestEngines {
  /** Those of the current test, in the order of their start. */
  readonly all: TestEngine[] = [];

  private constructor(
    readonly database: TestDatabase,
    readonly workspacesRoot: string,
  ) {}

  static async open(): Promise<TestEngines> {
    const database = await createTestDatabase({ poolSize: 8 });
    return new TestEngines(database, await mkdtemp(path.join(tmpdir(), 'engines-')));
  }

  async start(options: { owner?: string; leaseSeconds?: number } = {}): Promise<TestEngine> {
    const owner = options.owner ?? `engine-${this.all.length}`;
    const { database, workspacesRoot } = this;
    const engine = await TestEngine.start(database, { ...options, owner, workspacesRoot });
    this.all.push(engine);
    return engine;
  }

  async stop(): Promise<void> {
    for (const engine of this.all.splice(0)) await engine.stop();
  }

  async close(): Promise<void> {
    await this.stop();
    await this.database.close();
    await rm(this.workspacesRoot, { recursive: true, force: true });
  }
}
