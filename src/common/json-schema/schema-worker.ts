import type { JsonObject, JsonValue } from '../json/json-value.js';
import { serveJobs } from '../workers/serve-jobs.js';
import { schemaProblem, type SchemaProblem } from './schema-problem.js';

serveJobs((job: string): SchemaProblem | null => {
  const { schema, value } = JSON.parse(job) as { schema: JsonObject; value: JsonValue };
  return schemaProblem(schema, value);
});
