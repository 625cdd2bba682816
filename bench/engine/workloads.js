/**
 * The workloads every engine is measured with. An engine gives `{chain, fan, loop}`: functions that run one workflow
 * from its creation to its durable end.
 */
export const CHAIN_NODES = 10;
export const FAN_WIDTH = 50;
export const LOOP_VISITS = 100;
const IN_FLIGHT = 64;

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export function median(values) {
  return percentile(values, 0.5);
}

/** Milliseconds of each run. */
async function oneByOne(run, maxMillis) {
  const millis = [];
  for (const until = performance.now() + maxMillis; performance.now() < until;) {
    const began = performance.now();
    await run();
    millis.push(performance.now() - began);
  }
  return millis;
}

/** Visits a second, of the whole slice. */
async function inFlight(run, maxMillis) {
  let done = 0;
  const began = performance.now();
  const until = began + maxMillis;
  const worker = async () => {
    while (performance.now() < until) {
      await run();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return [(done * CHAIN_NODES * 1000) / (performance.now() - began)];
}

/** Each gives its samples of a slice of about so many milliseconds. */
export const WORKLOADS = {
  w1: ({ chain }, millis) => oneByOne(chain, millis),
  w2: ({ chain }, millis) => inFlight(chain, millis),
  w3: ({ fan }, millis) => oneByOne(fan, millis),
  w4: ({ loop }, millis) => oneByOne(loop, millis),
};
