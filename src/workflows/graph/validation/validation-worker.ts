import { serveJobs } from '../../../common/workers/serve-jobs.js';
import { validateGraph, type UncheckedDefinition } from './validate-graph.js';

/** A job is a definition as JSON text: it crosses to the thread as one piece. */
serveJobs((definition: string) => validateGraph(JSON.parse(definition) as UncheckedDefinition));
