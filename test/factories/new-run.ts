import type { JsonObject } from '../../src/common/json/json-value.js';
import type { NewRun } from '../../src/runs/run.repository.js';

/** A run as an integrator creates it: without a parent, and no rerun. */
export function newRun(runId: string, variables: JsonObject = {}): NewRun {
  return {
    runId,
    workflowId: '1',
    workflowVersion: 1,
    variables,
    failStrategy: null,
    ttlHours: 1,
    apiKeyName: null,
    callbackUrl: null,
    parentRunId: null,
    parentVisitUuid: null,
    rerunOf: null,
    rerunFromNode: null,
    createdAt: new Date(),
  };
}
