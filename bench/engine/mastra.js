/** Mastra with its PostgreSQL store: a snapshot of the run per step. */
import { Mastra } from '@mastra/core/mastra';
import { createStep, createWorkflow } from '@mastra/core/workflows';
import { PostgresStore } from '@mastra/pg';
import { z } from 'zod';
import { CHAIN_NODES, FAN_WIDTH, LOOP_VISITS } from './workloads.js';

const schema = z.any();
const step = (id, execute) => createStep({ id, inputSchema: schema, outputSchema: schema, execute });
const flow = (id) => createWorkflow({ id, inputSchema: schema, outputSchema: schema });

export async function openEngine(url) {
  let chain = flow('chain');
  for (let at = 0; at < CHAIN_NODES; at += 1) {
    chain = chain.then(step(`n${at}`, async () => ({ at, text: 'ok' })));
  }
  chain.commit();
  const fan = flow('fan')
    .then(step('in', async () => ({ text: 'ok' })))
    .parallel(Array.from({ length: FAN_WIDTH }, (_, at) => step(`p${at}`, async () => ({ at }))))
    .then(step('out', async ({ inputData }) => ({ count: Object.keys(inputData).length })));
  fan.commit();
  const body = flow('body')
    .then(step('a', async ({ inputData }) => ({ count: inputData.count + 1 })))
    .then(step('b', async ({ inputData }) => ({ count: inputData.count + 1 })))
    .commit();
  const loop = flow('loop').dountil(body, async ({ inputData }) => inputData.count >= LOOP_VISITS);
  loop.commit();
  const storage = new PostgresStore({ id: 'bench', connectionString: url });
  const mastra = new Mastra({ workflows: { chain, fan, loop }, storage, logger: false });
  await storage.init();
  const run = (name) => async () => {
    const workflow = mastra.getWorkflow(name);
    const one = await workflow.createRunAsync();
    const result = await one.start({ inputData: { count: 0 } });
    if (result.status !== 'success') throw new Error(`${name}: ${result.status}`);
  };
  return {
    name: 'Mastra + PostgreSQL',
    chain: run('chain'),
    fan: run('fan'),
    loop: run('loop'),
    close: () => storage.close(),
  };
}
