/** One engine in a process of its own: `node measure.js ENGINE DATABASE_URL SECONDS`; prints one JSON line. */
import { measureRound, warmUp } from './workloads.js';

const [, , engineName, url, seconds] = process.argv;
const { openEngine } = await import(`./${engineName}.js`);
const engine = await openEngine(url);
await warmUp(engine);
const result = await measureRound(engine, Number(seconds));
console.log(JSON.stringify({ name: engine.name, ...result }));
await engine.close();
// Peers keep timers and pools of their own.
process.exit(0);
