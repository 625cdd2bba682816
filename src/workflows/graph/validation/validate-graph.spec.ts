import fc from 'fast-check';
import type { GraphProblem } from '../graph-data.js';
import { validateGraph } from './validate-graph.js';

type Json = Record<string, unknown>;

const node = (id: string, type: string, data: Json = {}) => ({ id, type, data: { label: id, ...data } });
const input = node('input', 'userInput', { fields: [{ name: 'topic', type: 'string', required: true }] });
const agent = (id: string, prompt: string, more: Json = {}) =>
  node(id, 'agent', { model: 'demo', prompt, ...more });
const output = (value: unknown = 'x') => node('out', 'output', { fields: [{ name: 's', value }] });
const edge = (source: string, target: string, sourceHandle: string | null = null) => ({
  id: [source, sourceHandle ?? 'to', target].join('-'),
  source,
  target,
  sourceHandle,
});
const chain = (...nodes: { id: string }[]) => ({
  nodes,
  edges: nodes.slice(1).map((next, at) => edge(nodes[at]!.id, next.id)),
});
const yes = {
  id: 'yes',
  logic: 'and',
  conditions: [{ variable: 'input.topic', operator: 'equals', value: 'x' }],
};

const dag = (graphData: unknown, settings: unknown = {}) =>
  validateGraph({ mode: 'DAG', graphData, settings });
const agentic = (graphData: unknown, settings: unknown = {}) =>
  validateGraph({ mode: 'AGENTIC', graphData, settings });
const brief = (problems: GraphProblem[]) =>
  problems.map(({ code, nodeId, edgeId, field }) => [code, nodeId ?? edgeId ?? field]);

const ok = chain(input, agent('a', '@say {{ input.topic }}'), output('{{ a.text }}'));

describe('validateGraph', () => {
  it('finds nothing wrong with the example of contract.md', () => {
    const graphData = {
      nodes: [
        {
          id: 'in',
          type: 'userInput',
          data: {
            label: 'Input',
            fields: [{ name: 'topic', type: 'string', required: true, label: 'Topic' }],
          },
        },
        {
          id: 'research',
          type: 'agent',
          data: {
            label: 'Researcher',
            model: 'demo',
            prompt: 'Research {{ in.topic }}',
            failStrategy: 'abort',
            timeoutSeconds: 60,
            retry: { maxAttempts: 2, backoffSeconds: 1 },
          },
        },
        {
          id: 'out',
          type: 'output',
          data: { label: 'Result', fields: [{ name: 'summary', value: '{{ research.text }}' }] },
        },
      ],
      edges: [
        { id: 'e1', source: 'in', target: 'research' },
        { id: 'e2', source: 'research', target: 'out', sourceHandle: null },
      ],
    };
    expect(dag(graphData)).toEqual([]);
    expect(agentic(graphData)).toEqual([]);
    expect(validateGraph({ mode: 'DAG', graphData })).toEqual([]);
  });

  it.each<[string, unknown, unknown[]]>([
    ['an unknown type', chain(input, node('a', 'wizard'), output()), [['UNKNOWN_NODE_TYPE', 'a']]],
    [
      'a type that every object has',
      chain(input, node('a', 'constructor'), output()),
      [['UNKNOWN_NODE_TYPE', 'a']],
    ],
    [
      'a knowledge node, as long as no knowledge base can be asked',
      chain(
        input,
        node('k', 'knowledge', { credentialRef: 'kb-prod', datasets: ['d'], query: 'q' }),
        node('each', 'iteration', {
          items: '{{ input.list }}',
          graph: chain(
            node('deep', 'knowledge', { credentialRef: 'kb', datasets: ['d'], query: 'q' }),
            output(),
          ),
        }),
        output(),
      ),
      [
        ['NODE_UNAVAILABLE', 'k'],
        ['NODE_UNAVAILABLE', 'each.deep'],
      ],
    ],
    ['one id twice', { ...ok, nodes: [...ok.nodes, agent('a', 'y')] }, [['DUPLICATE_NODE_ID', 'a']]],
    [
      'a bad id',
      chain(input, agent('1a', 'x'), agent('ä', 'x'), agent('x'.repeat(65), 'x'), output()),
      [
        ['INVALID_NODE_ID', '1a'],
        ['INVALID_NODE_ID', 'ä'],
        ['INVALID_NODE_ID', 'x'.repeat(65)],
      ],
    ],
    [
      'reserved ids',
      chain(
        input,
        agent('planner', 'x'),
        agent('item', 'x'),
        agent('index', 'x'),
        agent('empty', 'x'),
        output(),
      ),
      [
        ['RESERVED_NODE_ID', 'planner'],
        ['RESERVED_NODE_ID', 'item'],
        ['RESERVED_NODE_ID', 'index'],
        ['RESERVED_NODE_ID', 'empty'],
      ],
    ],
    [
      'a dangling edge',
      { ...ok, edges: [...ok.edges, edge('a', 'ghost'), edge('nobody', 'a')] },
      [
        ['DANGLING_EDGE', 'a-to-ghost'],
        ['DANGLING_EDGE', 'nobody-to-a'],
      ],
    ],
    [
      'an edge twice',
      { ...ok, edges: [...ok.edges, { ...edge('a', 'out'), id: 'again' }] },
      [['DUPLICATE_EDGE', 'again']],
    ],
    [
      'an edge id twice',
      { ...ok, edges: [...ok.edges, { ...edge('input', 'out'), id: 'a-to-out' }] },
      [['DUPLICATE_EDGE_ID', 'a-to-out']],
    ],
    [
      'no userInput',
      { nodes: ok.nodes.slice(2), edges: [] },
      [
        ['UNKNOWN_REFERENCE', 'out'],
        ['MISSING_USER_INPUT', null],
      ],
    ],
    ['no output', { nodes: ok.nodes.slice(0, 2), edges: ok.edges.slice(0, 1) }, [['MISSING_OUTPUT', null]]],
    [
      'two userInput nodes',
      { nodes: [...ok.nodes, node('in2', 'userInput')], edges: [...ok.edges, edge('in2', 'a')] },
      [['MULTIPLE_USER_INPUTS', 'in2']],
    ],
    [
      'a template that reads a later node',
      chain(input, agent('a', '{{ later.text }}'), agent('later', 'x'), output()),
      [['NOT_AN_ANCESTOR', 'a']],
    ],
    [
      'a template that reads its own node',
      chain(input, agent('a', '{{ a.text }}'), output()),
      [['NOT_AN_ANCESTOR', 'a']],
    ],
    [
      'a template that reads nobody',
      chain(input, agent('a', '{{ nobody.x }}'), output()),
      [['UNKNOWN_REFERENCE', 'a']],
    ],
    [
      'item outside an iteration',
      chain(input, agent('a', '{{ item }}'), output()),
      [['UNKNOWN_REFERENCE', 'a']],
    ],
    ['a template that is none', chain(input, agent('a', '{{ input.'), output()), [['TEMPLATE_SYNTAX', 'a']]],
    [
      'a condition that reads no ancestor',
      {
        nodes: [
          input,
          node('c', 'condition', {
            cases: [{ ...yes, conditions: [{ variable: 'out.s', operator: 'isEmpty' }] }],
          }),
          output(),
        ],
        edges: [edge('input', 'c'), edge('c', 'out', 'yes')],
      },
      [['NOT_AN_ANCESTOR', 'c']],
    ],
    [
      'code inputs that read no ancestor',
      chain(input, node('c', 'code', { code: 'return {}', inputs: { a: { b: ['{{ out.s }}'] } } }), output()),
      [['NOT_AN_ANCESTOR', 'c']],
    ],
    [
      'a handle that no case has',
      {
        nodes: [...ok.nodes, node('c', 'condition', { cases: [yes] })],
        edges: [...ok.edges, edge('input', 'c'), edge('c', 'a', 'no-such-case'), edge('c', 'out', 'else')],
      },
      [['UNKNOWN_HANDLE', 'c']],
    ],
    [
      'a handle where there are no cases',
      { ...ok, edges: [edge('input', 'a', 'yes'), edge('a', 'out')] },
      [['UNKNOWN_HANDLE', 'input']],
    ],
    [
      'a node that nothing leads to',
      { ...ok, nodes: [...ok.nodes, agent('island', 'x')] },
      [['UNREACHABLE_NODE', 'island']],
    ],
    ['an edge to itself', { ...ok, edges: [...ok.edges, edge('a', 'a')] }, [['CYCLE', 'a']]],
    [
      'a node without data',
      { ...ok, nodes: [input, { id: 'a', type: 'agent' }, output()] },
      [['INVALID_NODE_DATA', 'a']],
    ],
    ['join any', chain(input, agent('a', 'x', { join: 'any' }), output()), [['INVALID_NODE_DATA', 'a']]],
  ])('DAG: %s', (_, graphData, expected) => {
    const found = brief(dag(graphData));
    expect(found).toHaveLength(expected.length);
    expect(found).toEqual(expect.arrayContaining(expected));
  });

  it('says in the message what is wrong', () => {
    const messages = (graphData: unknown) =>
      dag(graphData)
        .map(({ message }) => message)
        .join('\n');
    expect(messages({ nodes: [output()], edges: [] })).toContain('userInput');
    expect(messages({ nodes: [input], edges: [] })).toContain('output');
    expect(messages({ ...ok, edges: [...ok.edges, edge('a', 'ghost')] })).toContain('"ghost"');
    const choose = node('c', 'condition', { cases: [yes] });
    const handled = {
      nodes: [...ok.nodes, choose],
      edges: [...ok.edges, edge('input', 'c'), edge('c', 'out', 'nope')],
    };
    expect(messages(handled)).toContain('has no case "nope", but "yes", "else"');
  });

  it('names the nodes of each cycle, in DAG mode', () => {
    const graphData = {
      nodes: [...ok.nodes, ...['b', 'c', 'd', 'e', 'f'].map((id) => agent(id, 'x'))],
      edges: [
        ...ok.edges,
        ...[edge('a', 'b'), edge('b', 'c'), edge('c', 'b'), edge('c', 'd'), edge('d', 'e'), edge('e', 'd')],
        ...[edge('e', 'f'), edge('f', 'd')],
      ],
    };
    const cycles = dag(graphData);
    expect(cycles).toEqual([
      expect.objectContaining({ code: 'CYCLE', nodeId: 'b', message: 'the edges form a cycle: b → c → b' }),
      expect.objectContaining({ code: 'CYCLE', nodeId: 'd', edgeId: 'e-to-d' }),
    ]);
    expect(agentic(graphData)).toEqual([]);
  });

  it('reports every problem at once', () => {
    const graphData = {
      nodes: [
        input,
        agent('a', '{{ ghost.x }} {{ later.y }}', { timeoutSeconds: -1, promt: 'x' }),
        node('c', 'code', { code: 'return (', inputs: { x: '{{ a.' } }),
        agent('island', 'x'),
        output('{{ nobody.text }}'),
        agent('later', 'x'),
      ],
      edges: [edge('input', 'a'), edge('a', 'c'), edge('c', 'out'), edge('c', 'later'), edge('a', 'ghost')],
    };
    expect(
      dag(graphData, { maxVisits: 3, runTimeoutSeconds: 'soon' }).map(({ code, nodeId, field }) => [
        code,
        nodeId,
        field,
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['INVALID_SETTINGS', null, 'settings.maxVisits'],
        ['INVALID_SETTINGS', null, 'settings.runTimeoutSeconds'],
        ['INVALID_NODE_DATA', 'a', 'timeoutSeconds'],
        ['INVALID_NODE_DATA', 'a', 'promt'],
        ['INVALID_NODE_DATA', 'c', 'code'],
        ['DANGLING_EDGE', null, null],
        ['UNREACHABLE_NODE', 'island', null],
        ['UNKNOWN_REFERENCE', 'a', 'prompt'],
        ['NOT_AN_ANCESTOR', 'a', 'prompt'],
        ['TEMPLATE_SYNTAX', 'c', 'inputs.x'],
        ['UNKNOWN_REFERENCE', 'out', 'fields.0.value'],
      ]),
    );
  });

  it('says which key of the configuration a knowledge node would need', () => {
    const data = { credentialRef: 'kb-prod', datasets: ['d'], query: 'q' };
    const [problem] = dag(chain(input, node('k', 'knowledge', data), output()));
    expect(problem).toEqual({
      nodeId: 'k',
      edgeId: null,
      field: 'credentialRef',
      code: 'NODE_UNAVAILABLE',
      message:
        'node "k", credentialRef: credentials.kb-prod names no knowledge base: this version has no provider of any',
    });
  });

  describe('AGENTIC', () => {
    const loop = {
      nodes: [...ok.nodes, agent('b', '{{ out.s }} {{ b.text }} {{ a.n | default: 0 }}', { join: 'all' })],
      edges: [...ok.edges, edge('a', 'b'), edge('b', 'a')],
    };
    it('takes back edges, and references to any node but not to none', () => {
      expect(
        agentic(loop, { goal: 'g', planner: { type: 'llm' }, maxVisits: 5, maxVisitsPerNode: 2 }),
      ).toEqual([]);
      expect(brief(agentic(chain(input, agent('a', '{{ nobody.x }}'), output())))).toEqual([
        ['UNKNOWN_REFERENCE', 'a'],
      ]);
    });

    it.each<[unknown, boolean]>([
      [{}, true],
      [{ planner: { type: 'edges' } }, true],
      [{ goal: 'g', planner: { type: 'llm', scope: 'edges' } }, true],
      [{ goal: 'g', planner: { type: 'llm', scope: 'graph' } }, false],
      [{ goal: 'g', planner: { type: 'llm' } }, false],
    ])('with settings %j an unreachable node is a problem: %s', (settings, isProblem) => {
      const island = { ...ok, nodes: [...ok.nodes, agent('island', 'x')] };
      expect(brief(agentic(island, settings))).toEqual(isProblem ? [['UNREACHABLE_NODE', 'island']] : []);
    });
  });

  it.each<['DAG' | 'AGENTIC', unknown, string[]]>([
    ['DAG', null, []],
    ['DAG', { runTimeoutSeconds: 1.5, budget: { tokens: 1, toolCalls: 1 }, concurrency: 16 }, []],
    ['DAG', { goal: 'x', planner: { type: 'edges' } }, ['settings.goal', 'settings.planner']],
    ['DAG', 'x', ['settings']],
    ['DAG', [], ['settings']],
    [
      'DAG',
      { budget: { tokens: 0, calls: 1 }, concurrency: 0 },
      ['settings.budget.calls', 'settings.budget.tokens', 'settings.concurrency'],
    ],
    ['AGENTIC', { planner: { type: 'llm' } }, ['settings.goal']],
    ['AGENTIC', { planner: { model: 'x' } }, ['settings.planner.type']],
    [
      'AGENTIC',
      { planner: { type: 'oracle', scope: 'world' } },
      ['settings.planner.scope', 'settings.planner.type'],
    ],
    ['AGENTIC', { maxVisits: 0, maxVisitsPerNode: 1.5 }, ['settings.maxVisits', 'settings.maxVisitsPerNode']],
  ])('%s settings %j: wrong %j', (mode, settings, fields) => {
    const problems = validateGraph({ mode, graphData: ok, settings });
    expect(problems.map(({ field }) => field).sort()).toEqual(fields);
    expect(problems.every(({ code }) => code === 'INVALID_SETTINGS')).toBe(true);
  });

  describe('iterations', () => {
    const iterate = (graph: unknown, more: Json = {}) =>
      chain(
        input,
        agent('before', 'x'),
        node('each', 'iteration', { items: '{{ before.list }}', graph, ...more }),
        agent('after', 'x'),
        output('{{ each.items }}'),
      );
    const inner = chain(
      agent('x', '{{ item.a }} {{ index }} {{ before.text }} {{ input.topic }}'),
      output('{{ x.text }}'),
    );

    it('may read item, index and the nodes before, and use ids again', () => {
      expect(dag(iterate(inner))).toEqual([]);
      expect(dag(iterate(inner, { items: [1, 2], concurrency: 4 }))).toEqual([]);
    });

    it('follow rules of their own', () => {
      const cases: [unknown, unknown[]][] = [
        [chain(node('in2', 'userInput'), output()), [['USER_INPUT_NOT_ALLOWED', 'each.in2']]],
        [chain(agent('x', 'y')), [['MISSING_OUTPUT', 'each']]],
        [chain(agent('x', '{{ after.text }}'), output()), [['NOT_AN_ANCESTOR', 'each.x']]],
        [chain(agent('x', '{{ each.items }}'), output()), [['NOT_AN_ANCESTOR', 'each.x']]],
        [chain(agent('x', '{{ nobody.text }}'), output()), [['UNKNOWN_REFERENCE', 'each.x']]],
        [{ nodes: inner.nodes, edges: [...inner.edges, edge('out', 'x')] }, [['CYCLE', 'each.x']]],
        [
          null,
          [
            ['GRAPH_MALFORMED', 'each'],
            ['MISSING_OUTPUT', 'each'],
          ],
        ],
      ];
      for (const [graph, expected] of cases) expect(brief(dag(iterate(graph)))).toEqual(expected);
    });

    it('nest, but not for ever', () => {
      const nest = (levels: number): unknown =>
        levels === 0
          ? inner
          : chain(
              node('deeper', 'iteration', { items: '{{ item }}', graph: nest(levels - 1) }),
              output('{{ deeper.items }}'),
            );
      expect(dag(iterate(nest(4)))).toEqual([]);
      expect(brief(dag(iterate(nest(5))))).toEqual([
        ['TOO_LARGE', `each.${'deeper.'.repeat(5).slice(0, -1)}`],
      ]);
    });

    it('of an AGENTIC workflow read any node outside, and only ancestors inside', () => {
      expect(agentic(iterate(chain(agent('x', '{{ after.text }}'), output())))).toEqual([]);
      expect(brief(agentic(iterate(chain(agent('x', '{{ y.text }}'), agent('y', 'z'), output()))))).toEqual([
        ['NOT_AN_ANCESTOR', 'each.x'],
      ]);
    });
  });

  describe('anything at all', () => {
    it.each<[string, unknown]>([
      ['null', null],
      ['a text', 'graph'],
      ['a list', []],
      ['nothing', undefined],
      ['no lists', { nodes: {}, edges: 'x' }],
      [
        'odd entries',
        { nodes: [null, 5, 'x', [], {}, { id: 7 }, { id: '' }], edges: [null, {}, { id: 'e' }, []] },
      ],
      ['numbers in edges', { nodes: ok.nodes, edges: [{ id: 'e', source: 1, target: {}, sourceHandle: 3 }] }],
      ['a function', { nodes: [() => 1], edges: [] }],
      ['a big integer', { nodes: [{ id: 'a', type: 'delay', data: { seconds: 1n } }], edges: [] }],
    ])('%s', (_, graphData) => {
      for (const mode of ['DAG', 'AGENTIC', null, {}]) {
        const problems = validateGraph({ mode, graphData, settings: graphData });
        expect(problems.length).toBeGreaterThan(0);
        expect(problems.every(({ code, message }) => code.length * message.length > 0)).toBe(true);
      }
    });

    it('deep nesting and circles', () => {
      let deep: unknown = 1;
      for (let level = 0; level < 100_000; level += 1) deep = { deep };
      expect(brief(dag(deep))).toEqual([['GRAPH_MALFORMED', null]]);
      const circle: Json = { ...ok };
      circle.self = circle;
      expect(brief(dag(circle))).toEqual([['GRAPH_MALFORMED', null]]);
      expect(brief(dag({ ...ok, nodes: [...ok.nodes, node('x', 'template', { template: deep })] }))).toEqual([
        ['GRAPH_MALFORMED', null],
      ]);
    });

    it('random values in random places', () => {
      const garbage = fc.oneof(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true }),
        fc.constantFrom('input', 'a', '{{ a.x }}', '{{', 'condition', 'iteration', '__proto__', 'else'),
      );
      const rawNode = fc.record(
        {
          id: fc.oneof(fc.constantFrom('input', 'a', 'b', 'out', '__proto__', 'constructor'), garbage),
          type: fc.oneof(
            fc.constantFrom('userInput', 'agent', 'condition', 'iteration', 'code', 'output', 'http'),
            garbage,
          ),
          data: fc.oneof(
            fc.dictionary(
              fc.constantFrom(
                'label',
                'prompt',
                'cases',
                'fields',
                'graph',
                'items',
                'code',
                'inputs',
                'url',
                '__proto__',
              ),
              garbage,
            ),
            garbage,
          ),
        },
        { requiredKeys: [] },
      );
      const rawEdge = fc.record(
        { id: garbage, source: garbage, target: garbage, sourceHandle: garbage },
        { requiredKeys: [] },
      );
      const graphs = fc.record({ nodes: fc.array(rawNode), edges: fc.array(fc.oneof(rawEdge, garbage)) });
      fc.assert(
        fc.property(
          fc.oneof(graphs, garbage),
          garbage,
          fc.constantFrom('DAG', 'AGENTIC'),
          (graphData, settings, mode) => {
            expect(Array.isArray(validateGraph({ mode, graphData, settings }))).toBe(true);
          },
        ),
        { numRuns: 500 },
      );
    });
  });

  describe('takes time that grows with the graph, not with its square', () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`);

    /** Milliseconds of the quickest of three. */
    const timed = (validate: () => void): number => {
      const took = Array.from({ length: 3 }, () => {
        const begun = performance.now();
        validate();
        return performance.now() - begun;
      });
      return Math.min(...took);
    };

    /** Ten edges a node, every prompt refers to an ancestor. */
    const layered = (count: number) => {
      const ids = many(count);
      const arcs = new Map<string, ReturnType<typeof edge>>();
      const add = (one: ReturnType<typeof edge>) => arcs.set(one.id, one);
      ids.forEach((id, at) => add(edge(at === 0 ? 'input' : `n${at - 1}`, id)));
      for (let at = 0; arcs.size < count * 10; at += 1) {
        const from = (at * 13) % (count - 100);
        add(edge(`n${from}`, `n${from + 2 + (at % 97)}`));
      }
      add(edge(`n${count - 1}`, 'out'));
      const agents = ids.map((id, at) => agent(id, at === 0 ? 'x' : `{{ n${Math.floor(at / 2)}.text }}`));
      return { nodes: [input, ...agents, output()], edges: [...arcs.values()] };
    };

    /** All nodes in one cycle, and ten edges a node. */
    const ring = (count: number) => {
      const ids = many(count);
      const strides = Array.from({ length: 10 }, (_, at) => 1 + at * 31);
      const edges = [
        ...strides.flatMap((stride) => ids.map((id, at) => edge(id, `n${(at + stride) % count}`))),
        edge('input', 'n0'),
        edge('n0', 'out'),
      ];
      return { nodes: [input, ...ids.map((id) => agent(id, '{{ n5.text }}')), output()], edges };
    };

    it.each([
      ['2,000 nodes and 20,000 edges', layered, 250, 2_000, []],
      ['9,998 nodes in one cycle', ring, 1_250, 9_998, ['CYCLE']],
    ])('%s', (_name, graphOf, small, large, expected) => {
      const [few, all] = [graphOf(small), graphOf(large)];
      expect(dag(all).map(({ code }) => code)).toEqual(expected);
      // Eight times the graph; its square would take 64 times as long.
      expect(timed(() => dag(all)) / timed(() => dag(few))).toBeLessThan(32);
    });
  });
});
