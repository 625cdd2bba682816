import type { JsonObject, JsonValue } from '../json/json-value.js';
import { WorkerPool } from '../workers/index.js';
import type { SchemaProblem } from './schema-problem.js';

/**
 * Checks values against JSON Schemas in threads of its own (decision 43). Every value, not only large ones: a short
 * schema with nested alternatives can take for ever on a short value, and compiling one generates code.
 */
export class JsonSchemaValidator {
  readonly #timeoutMillis: number;
  readonly #pool: WorkerPool<string, SchemaProblem | null>;

  /** `timeoutMillis`: for one value. */
  constructor({ threads = 2, timeoutMillis = 10_000 } = {}) {
    this.#timeoutMillis = timeoutMillis;
    this.#pool = new WorkerPool({
      module: new URL('./schema-worker.js', import.meta.url),
      size: threads,
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
  }

  /**
   * The first problem of a value, or null when it fits. Throws WorkerTimeoutError where that takes too long,
   * WorkerLostError, an Error for a schema that is none, or the signal's reason.
   */
  firstProblem(schema: JsonObject, value: JsonValue, signal?: AbortSignal): Promise<SchemaProblem | null> {
    // As text: objects that keep the order of their keys cannot be cloned.
    return this.#pool.run(JSON.stringify({ schema, value }), { timeoutMillis: this.#timeoutMillis, signal });
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
