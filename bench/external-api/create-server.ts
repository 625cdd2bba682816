import 'reflect-metadata';
import { chain, input, output } from '../../test/integration/engine/graphs.js';
import { startBenchApi } from './bench-api.js';

/** The product, with a workflow whose runs are created and never started. */
const { api, close } = await startBenchApi();
const workflow = await api.test.workflow(
  chain(input({ name: 'topic', type: 'string', required: true }), output({ topic: '{{ in.topic }}' })),
);
process.send?.({ port: Number(new URL(api.url).port), path: `/api/v1/workflows/${workflow.name}/runs` });
process.on('message', () => void close().then(() => process.exit(0)));
