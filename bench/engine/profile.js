/**
 * Where this engine's time goes while 64 runs are in flight (W2): `npm run build && node bench/engine/profile.js
 * DATABASE_URL [SECONDS]` prints the ten frames with the largest share of its thread's busy time.
 */
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { openEngine } from './agent-management.js';
import { WORKLOADS } from './workloads.js';

const TOP = 10;
/** Frames of the profiler's own and of waiting. */
const LEFT_OUT = new Set(['(idle)', '(program)', '(root)', 'dispatch']);

const [, , url, seconds = '10'] = process.argv;
const millis = Number(seconds) * 1000;
const engine = await openEngine(url);
await WORKLOADS.w2(engine, millis);
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.setSamplingInterval', { interval: 200 });
await session.post('Profiler.start');
await WORKLOADS.w2(engine, millis);
const { profile } = await session.post('Profiler.stop');

const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
const shares = new Map();
let busy = 0;
profile.samples.forEach((id, at) => {
  const { functionName, url: file } = frames.get(id);
  if (LEFT_OUT.has(functionName)) return;
  const frame = `${functionName || '(anonymous)'} ${path.basename(file)}`.trim();
  busy += profile.timeDeltas[at];
  shares.set(frame, (shares.get(frame) ?? 0) + profile.timeDeltas[at]);
});
for (const [frame, micros] of [...shares].sort(([, a], [, b]) => b - a).slice(0, TOP)) {
  console.log(`${((micros * 100) / busy).toFixed(1)} %  ${frame}`);
}
await engine.close();
process.exit(0);
