import { validateGraph } from '../graph/validation/validate-graph.js';
import { ValidateWorkflow } from './validate-workflow.js';

/** A chain of so many templates, the last of which reads nobody. */
function chain(length: number) {
  const ids = Array.from({ length }, (_, at) => `n${at}`);
  return {
    mode: 'DAG',
    graphData: {
      nodes: [
        { id: 'in', type: 'userInput', data: {} },
        ...ids.map((id, at) => ({
          id,
          type: 'template',
          data: { template: at === 0 ? '量' : `{{ n${at - 1}.text }}` },
        })),
        { id: 'out', type: 'output', data: { fields: [{ name: 'text', value: '{{ nobody.text }}' }] } },
      ],
      edges: ['in', ...ids].map((source, at) => ({ id: `e${at}`, source, target: ids[at] ?? 'out' })),
    },
    settings: { maxVisits: 5 },
  };
}

describe('ValidateWorkflow', () => {
  const validate = new ValidateWorkflow();
  afterAll(() => validate.onModuleDestroy());

  it.each([10, 2_000])('finds with %d nodes what validateGraph finds', async (length) => {
    const found = await validate.execute(chain(length));
    expect(found.map(({ code }) => code)).toEqual(['INVALID_SETTINGS', 'UNKNOWN_REFERENCE']);
    expect(found).toEqual(validateGraph(chain(length)));
  });

  it('holds nobody up while it judges a large graph', async () => {
    const large = chain(4_000);
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 5);
    await validate.execute(large);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(10);
  });

  it('takes anything that JSON can hold', async () => {
    for (const graphData of [null, [], 'x', { nodes: 'x'.repeat(100_000), edges: [] }]) {
      expect((await validate.execute({ mode: 'DAG', graphData })).length).toBeGreaterThan(0);
    }
  });
});
