/** LangGraph.js with its PostgreSQL checkpointer at its default durability: a checkpoint a superstep, overlapping the next. */
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import pg from 'pg';
import { CHAIN_NODES, FAN_WIDTH, LOOP_VISITS } from './workloads.js';

let runs = 0;

export async function openEngine(url) {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  const checkpointer = new PostgresSaver(pool);
  await checkpointer.setup();
  const State = Annotation.Root({
    count: Annotation(),
    last: Annotation(),
    all: Annotation({ reducer: (a, b) => a.concat(b), default: () => [] }),
  });
  const names = (length, prefix) => Array.from({ length }, (_, at) => `${prefix}${at}`);

  let chain = new StateGraph(State);
  const steps = names(CHAIN_NODES, 'n');
  for (const name of steps) chain = chain.addNode(name, async () => ({ last: { name, text: 'ok' } }));
  steps.forEach((name, at) => (chain = chain.addEdge(at === 0 ? START : steps[at - 1], name)));
  const chainApp = chain.addEdge(steps.at(-1), END).compile({ checkpointer });

  let fan = new StateGraph(State).addNode('in', async () => ({ last: 'ok' }));
  const sides = names(FAN_WIDTH, 'p');
  for (const name of sides) fan = fan.addNode(name, async () => ({ all: [name] }));
  fan = fan.addNode('out', async ({ all }) => ({ count: all.length })).addEdge(START, 'in');
  for (const name of sides) fan = fan.addEdge('in', name);
  const fanApp = fan.addEdge(sides, 'out').addEdge('out', END).compile({ checkpointer });

  const loopApp = new StateGraph(State)
    .addNode('a', async ({ count }) => ({ count: (count ?? 0) + 1 }))
    .addNode('b', async ({ count }) => ({ count: count + 1 }))
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addConditionalEdges('b', ({ count }) => (count >= LOOP_VISITS ? END : 'a'))
    .compile({ checkpointer });

  const options = () => ({
    configurable: { thread_id: `${process.pid}-${(runs += 1)}` },
    recursionLimit: 300,
  });
  return {
    name: 'LangGraph + PostgreSQL',
    chain: () => chainApp.invoke({ count: 0 }, options()),
    fan: () => fanApp.invoke({ count: 0 }, options()),
    loop: () => loopApp.invoke({ count: 0 }, options()),
    close: () => pool.end(),
  };
}
