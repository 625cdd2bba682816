import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { WorkerPool, WorkerTimeoutError } from '../../common/workers/index.js';
import type { GraphProblem } from '../graph/graph-data.js';
import { validateGraph, type UncheckedDefinition } from '../graph/validation/validate-graph.js';

/** Characters of JSON up to which a definition is judged at once: some tens of milliseconds. */
const SMALL = 64_000;
const TIMEOUT_MILLIS = 30_000;

/** Judges definitions; large ones in a thread of their own, so that runs and streams go on (decision 43). */
@Injectable()
export class ValidateWorkflow implements OnModuleDestroy {
  readonly #pool = new WorkerPool<string, GraphProblem[]>({
    module: new URL('../graph/validation/validation-worker.js', import.meta.url),
    size: 1,
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });

  /** Every problem of a definition that came as JSON. */
  async execute(definition: UncheckedDefinition): Promise<GraphProblem[]> {
    const json = JSON.stringify(definition);
    if (json.length <= SMALL) return validateGraph(definition);
    try {
      return await this.#pool.run(json, { timeoutMillis: TIMEOUT_MILLIS });
    } catch (error) {
      if (!(error instanceof WorkerTimeoutError)) throw error;
      const message = `the definition could not be checked within ${TIMEOUT_MILLIS / 1000} s`;
      return [{ nodeId: null, edgeId: null, field: null, code: 'TOO_LARGE', message }];
    }
  }

  onModuleDestroy(): Promise<void> {
    return this.#pool.close();
  }
}
