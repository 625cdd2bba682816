/** One engine in a process of its own, which measures a slice of a workload whenever it is told to. */
import { WORKLOADS } from './workloads.js';

const [, , engineName, url] = process.argv;
const { openEngine } = await import(`./${engineName}.js`);
const engine = await openEngine(url);
process.on('message', async ({ workload, millis }) => {
  process.send({ samples: await WORKLOADS[workload](engine, millis) });
});
process.on('disconnect', () => process.exit(0));
process.send({ name: engine.name });
