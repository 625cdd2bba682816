import type { JsonObject, JsonValue } from '../json/json-value.js';
import { serveJobs } from '../workers/serve-jobs.js';
import { schemaProblem, type SchemaProblem } from './schema-problem.js';

serveJobs((job: { schema: JsonObject; value: JsonValue }): SchemaProblem | null =>
  schemaProblem(job.schema, job.value),
);
