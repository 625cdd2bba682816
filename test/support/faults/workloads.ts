import { agent, chain, edge, input, node, output, when } from '../../integration/engine/graphs.js';

/** A workflow, what one run of it must come to, and what it must have done to the world by then. */
export interface Workload {
  readonly name: string;
  readonly document: Readonly<Record<string, unknown>>;
  readonly variables: (tag: string) => Record<string, unknown>;
  /** What the test answers to its `humanInput` node. */
  readonly answer?: Readonly<Record<string, unknown>>;
  /** The test cancels the run when this node is first seen so. */
  readonly cancelAt?: { readonly nodeId: string; readonly status: string };
  readonly status: 'SUCCESS' | 'FAILED';
  readonly statusReason: string | null;
  /** The run's own outputs of a success. */
  readonly outputs?: (tag: string) => Record<string, unknown>;
  /** Keys of the acts that a success makes, all of them. */
  readonly acts?: (tag: string) => string[];
}

const tag = { name: 'tag', type: 'string', required: true } as const;
const items = { name: 'items', type: 'array', required: true } as const;
const ITEMS = ['甲', '乙', '丙', '丁', '戊'];

/** Workflows of every node type, whose http nodes and models act on the stub at `url`. */
export function workloads(url: string): { child: Readonly<Record<string, unknown>>; all: Workload[] } {
  const acts = (id: string, iterSeq = '1', whose = '{{ in.tag }}') =>
    node(id, 'http', { method: 'POST', url: `${url}/act/${whose}/${id}/${iterSeq}`, body: { n: iterSeq } });
  const document = (name: string, graphData: unknown, more: Record<string, unknown> = {}) => ({
    name,
    displayName: name,
    description: '',
    mode: 'DAG',
    settings: {},
    graphData,
    ...more,
  });

  const child = document(
    'child-flow',
    chain(
      input(tag),
      acts('act'),
      node('rest', 'delay', { seconds: 0.15 }),
      output({ key: '{{ act.body.key }}' }),
    ),
  );

  const each = node('each', 'iteration', {
    items: '{{ in.items }}',
    concurrency: 2,
    graph: chain(
      node('ask', 'http', {
        method: 'GET',
        url: `${url}/act/{{ in.tag }}/each.ask/{{ index | plus: 1 }}`,
      }),
      agent('tell', { prompt: '@think about it\n@say {{ item }}' }),
      output({ key: '{{ ask.body.key }}', said: '{{ tell.text }}' }, 'done'),
    ),
  });
  const everyType = {
    nodes: [
      input(tag, items),
      node('hello', 'template', { template: '你好 {{ in.tag }}' }),
      node('count', 'code', {
        code: 'return { n: inputs.items.length }',
        inputs: { items: '{{ in.items }}' },
      }),
      when('choose', [{ id: 'some', variable: 'count.n', operator: 'greaterThan', value: 0 }]),
      acts('call'),
      acts('never'),
      agent('writer', {
        model: 'stub',
        tools: ['write_file', 'read_file', 'list_files'],
        prompt: 'ACT {{ in.tag }}/writer/1\n',
      }),
      agent('scribe', {
        tools: ['write_file', 'read_file'],
        prompt: [
          '@think',
          '@call write_file {"path":"scribe.md","content":"记录"}',
          '@sleep 30',
          '@call read_file {"path":"scribe.md"}',
          '@say done',
        ].join('\n'),
      }),
      node('smart', 'smartAction', {
        model: 'stub',
        prompt: 'ACT {{ in.tag }}/smart/1 json\n',
        outputSchema: { type: 'object', required: ['said'], properties: { said: { type: 'string' } } },
      }),
      each,
      node('sub', 'subWorkflow', { workflowName: 'child-flow', variables: { tag: '{{ in.tag }}.sub' } }),
      node('person', 'humanInput', {
        message: 'Fine, {{ smart.said }}?',
        fields: [{ name: 'ok', type: 'boolean', required: true }],
      }),
      node('pause', 'delay', { seconds: 0.25 }),
      node('join', 'template', { template: '{{ hello.text }}: {{ call.body.key }}' }),
      output({
        joined: '{{ join.text }}',
        n: '{{ count.n }}',
        items: '{{ each.items }}',
        wrote: '{{ writer.text }}',
        said: '{{ smart.said }}',
        child: '{{ sub.key }}',
        ok: '{{ person.ok }}',
      }),
    ],
    edges: [
      edge('in', 'hello'),
      edge('in', 'count'),
      edge('in', 'writer'),
      edge('count', 'choose'),
      edge('choose', 'call', 'some'),
      edge('choose', 'never', 'else'),
      edge('hello', 'call'),
      edge('call', 'each'),
      edge('call', 'sub'),
      edge('each', 'pause'),
      edge('writer', 'smart'),
      edge('in', 'scribe'),
      edge('smart', 'person'),
      ...['sub', 'pause', 'person', 'never', 'scribe'].map((id) => edge(id, 'join')),
      edge('join', 'out'),
    ],
  };
  const everyTypeRun = {
    document: document('every-type', everyType),
    variables: (of: string) => ({ tag: of, items: ITEMS }),
    acts: (of: string) => [
      `${of}/call/1`,
      ...ITEMS.map((_, at) => `${of}/each.ask/${at + 1}`),
      `${of}/writer/1#1`,
      `${of}/writer/1#2`,
      `${of}/smart/1#1`,
      `${of}.sub/act/1`,
    ],
    outputs: (of: string) => ({
      joined: `你好 ${of}: ${of}/call/1`,
      n: ITEMS.length,
      items: ITEMS.map((item, at) => ({ key: `${of}/each.ask/${at + 1}`, said: item })),
      wrote: `wrote ${of}/writer/1`,
      said: `${of}/smart/1`,
      child: `${of}.sub/act/1`,
      ok: true,
    }),
    status: 'SUCCESS',
    statusReason: null,
  } as const;

  const round = [
    node('w', 'code', { code: 'return { n: inputs.n + 1 }', inputs: { n: '{{ w.n | default: 0 }}' } }),
    acts('act', '{{ w.n }}'),
    agent('talk', { prompt: '@think again\n@sleep 15\n@say round {{ w.n }}' }),
    when('c', [{ id: 'again', variable: 'w.n', operator: 'lessThan', value: 4 }]),
  ];
  const loop = {
    nodes: [input(tag), ...round, output({ n: '{{ w.n }}', said: '{{ talk.text }}' })],
    edges: [...chain(input(tag), ...round).edges, edge('c', 'w', 'again'), edge('c', 'out', 'else')],
  };

  const planned = {
    nodes: [
      input(tag),
      node('count', 'code', {
        code: 'return { n: inputs.n + 1 }',
        inputs: { n: '{{ count.n | default: 0 }}' },
      }),
      acts('a', '{{ count.n }}'),
      acts('b', '{{ count.n }}'),
      output({ n: '{{ count.n }}', a: '{{ a.body.key }}', b: '{{ b.body.key }}' }),
    ],
    edges: [edge('in', 'count'), edge('count', 'a'), edge('count', 'b'), edge('a', 'out'), edge('b', 'out')],
  };
  const goal = ['@plan count', '@plan a,b', '@think now the other', '@plan count', '@plan a', '@plan out'];

  const fails = chain(
    input(tag),
    node('flaky', 'http', {
      method: 'GET',
      url: `${url}/flaky/{{ in.tag }}/flaky/1`,
      retry: { maxAttempts: 2, backoffSeconds: 0.05 },
      failStrategy: 'skip',
    }),
    acts('act'),
    node('boom', 'code', { code: 'throw new Error("boom")' }),
    output({ x: '{{ act.body.key }}' }),
  );

  return {
    child,
    all: [
      { ...everyTypeRun, name: 'every-type', answer: { ok: true } },
      {
        name: 'loop-flow',
        document: document('loop-flow', loop, { mode: 'AGENTIC' }),
        variables: (of) => ({ tag: of }),
        status: 'SUCCESS',
        statusReason: null,
        outputs: () => ({ n: 4, said: 'round 4' }),
        acts: (of) => [1, 2, 3, 4].map((n) => `${of}/act/${n}`),
      },
      {
        name: 'planned-flow',
        document: document('planned-flow', planned, {
          mode: 'AGENTIC',
          settings: { goal: goal.join('\n'), planner: { type: 'llm', model: 'demo' } },
        }),
        variables: (of) => ({ tag: of }),
        status: 'SUCCESS',
        statusReason: null,
        outputs: (of) => ({ n: 2, a: `${of}/a/2`, b: `${of}/b/1` }),
        acts: (of) => [`${of}/a/1`, `${of}/a/2`, `${of}/b/1`],
      },
      {
        name: 'failing-flow',
        document: document('failing-flow', fails),
        variables: (of) => ({ tag: of }),
        status: 'FAILED',
        statusReason: 'NODE_FAILED',
        acts: (of) => [`${of}/flaky/1`, `${of}/act/1`],
      },
      {
        ...everyTypeRun,
        name: 'cancelled-flow',
        document: document('cancelled-flow', everyType),
        cancelAt: { nodeId: 'person', status: 'WAITING' },
        status: 'FAILED',
        statusReason: 'CANCELLED',
        acts: undefined,
        outputs: undefined,
      },
    ],
  };
}
