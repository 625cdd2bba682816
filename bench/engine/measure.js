/** One engine in a process of its own: `node measure.js ENGINE DATABASE_URL SECONDS`; prints one JSON line. */
import { measureRound } from './workloads.js';

const [, , engineName, url, seconds] = process.argv;
const { openEngine } = await import(`./${engineName}.js`);
const engine = await openEngine(url);
// A whole round that does not count: what is measured is a server that has been running, not its compiler.
await measureRound(engine, Number(seconds));
const result = await measureRound(engine, Number(seconds));
console.log(JSON.stringify({ name: engine.name, ...result }));
await engine.close();
// Peers keep timers and pools of their own.
process.exit(0);
