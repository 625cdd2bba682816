/** DBOS: every step is a row of its own, durable before the next begins. */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { CHAIN_NODES, FAN_WIDTH, LOOP_VISITS } from './workloads.js';

let runs = 0;

export async function openEngine(url) {
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, logLevel: 'error' });
  const chain = DBOS.registerWorkflow(
    async () => {
      let last;
      for (let at = 0; at < CHAIN_NODES; at += 1) {
        last = await DBOS.runStep(async () => ({ at, text: 'ok' }), { name: `n${at}` });
      }
      return last;
    },
    { name: 'chain' },
  );
  const fan = DBOS.registerWorkflow(
    async () => {
      await DBOS.runStep(async () => ({ text: 'ok' }), { name: 'in' });
      const all = await Promise.all(
        Array.from({ length: FAN_WIDTH }, (_, at) => DBOS.runStep(async () => ({ at }), { name: `p${at}` })),
      );
      return DBOS.runStep(async () => ({ count: all.length }), { name: 'out' });
    },
    { name: 'fan' },
  );
  const loop = DBOS.registerWorkflow(
    async () => {
      let count = 0;
      while (count < LOOP_VISITS) {
        count = await DBOS.runStep(async () => count + 1, { name: 'count' });
      }
      return count;
    },
    { name: 'loop' },
  );
  await DBOS.launch();
  const run = (workflow) => async () => {
    const handle = await DBOS.startWorkflow(workflow, { workflowID: `${process.pid}-${(runs += 1)}` })();
    return handle.getResult();
  };
  return {
    name: 'DBOS',
    chain: run(chain),
    fan: run(fan),
    loop: run(loop),
    close: () => DBOS.shutdown(),
  };
}
