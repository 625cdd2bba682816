/** Measures one engine: `node bench/engine/measure.js ENGINE DATABASE_URL [ROUNDS] [SECONDS]`; prints one JSON line. */
import { measureRound, warmUp } from './workloads.js';

const [, , name, url, rounds = '5', seconds = '4'] = process.argv;
const { openEngine } = await import(`./${name}.js`);
const engine = await openEngine(url);
await warmUp(engine);
const results = [];
for (let round = 0; round < Number(rounds); round += 1) {
  results.push(await measureRound(engine, Number(seconds)));
}
console.log(JSON.stringify({ name: engine.name, results }));
await engine.close();
process.exit(0);
