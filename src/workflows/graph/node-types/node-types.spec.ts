import { NODE_TYPES, type NodeType } from '../graph-data.js';
import { isNodeType, nodeTypes } from './node-types.js';

type Data = Record<string, unknown>;

const schema = { type: 'object', properties: { score: { type: 'number' } }, required: ['score'] };
const when = (condition: Data, more: Data = {}) => ({
  cases: [
    { id: 'a', conditions: [{ variable: 'x.y', operator: 'equals', value: 1, ...condition }], ...more },
  ],
});
const graph = { nodes: [], edges: [] };

/** For each type: data that is sound, then data with the fields that are wrong in it. */
const TABLE: Record<NodeType, { good: Data[]; bad: [Data, string[]][] }> = {
  userInput: {
    good: [
      {},
      { fields: [] },
      {
        fields: [
          { name: '主题', type: 'string', required: true, default: 'x', label: 'L', description: 'D' },
        ],
      },
      { fields: [{ name: 'a', type: 'select', options: ['x', 2, true], default: 2 }] },
      { fields: [{ name: 'a', type: 'object', default: { b: [1] } }] },
    ],
    bad: [
      [{ fields: {} }, ['fields']],
      [{ fields: [{ name: '', type: 'string' }] }, ['fields.0.name']],
      [{ fields: [{ name: 'a\u0000', type: 'string' }] }, ['fields.0.name']],
      [{ fields: [{ name: '__proto__', type: 'string' }] }, ['fields.0.name']],
      [{ fields: [{ name: 'a', type: 'text' }] }, ['fields.0.type']],
      [{ fields: [{ name: 'a', type: 'string', requried: true }] }, ['fields.0.requried']],
      [{ fields: [{ name: 'a', type: 'select' }] }, ['fields.0.options']],
      [{ fields: [{ name: 'a', type: 'select', options: [] }] }, ['fields.0.options']],
      [{ fields: [{ name: 'a', type: 'select', options: [['x']] }] }, ['fields.0.options.0']],
      [{ fields: [{ name: 'a', type: 'select', options: ['x'], default: 'y' }] }, ['fields.0.default']],
      [{ fields: [{ name: 'a', type: 'integer', default: 1.5 }] }, ['fields.0.default']],
      [
        {
          fields: [
            { name: 'a', type: 'string' },
            { name: 'a', type: 'number' },
          ],
        },
        ['fields.1.name'],
      ],
    ],
  },
  agent: {
    good: [
      { prompt: '' },
      { model: 'demo', instructions: 'i', tools: ['read_file'], prompt: 'p' },
      { agentKey: 'writer', version: 2, prompt: 'p' },
      { slotKey: 'main-writer', prompt: 'p' },
    ],
    bad: [
      [{}, ['prompt']],
      [{ prompt: 5, model: '' }, ['prompt', 'model']],
      [{ prompt: 'p', agentKey: 'a', slotKey: 'b' }, ['slotKey']],
      [{ prompt: 'p', agentKey: 'A B' }, ['agentKey']],
      [{ prompt: 'p', slotKey: 'a', version: 1 }, ['version']],
      [{ prompt: 'p', agentKey: 'a', version: 0 }, ['version']],
      [{ prompt: 'p', agentKey: 'a', model: 'm', tools: [] }, ['model', 'tools']],
      [{ prompt: 'p', slotKey: 'a', instructions: 'i' }, ['instructions']],
      [{ prompt: 'p', tools: ['read_file', 'shell'] }, ['tools.1']],
      [{ prompt: 'x'.repeat(200_001) }, ['prompt']],
    ],
  },
  smartAction: {
    good: [
      { prompt: 'p', outputSchema: schema },
      {
        prompt: 'p',
        agentKey: 'a',
        version: 1,
        outputSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema' },
      },
      { prompt: 'p', model: 'demo', outputSchema: { $ref: '#/definitions/a', definitions: { a: schema } } },
    ],
    bad: [
      [{ prompt: 'p' }, ['outputSchema']],
      [{ prompt: 'p', outputSchema: [] }, ['outputSchema']],
      [{ prompt: 'p', outputSchema: { type: 'objekt' } }, ['outputSchema.type']],
      [
        { prompt: 'p', outputSchema: { properties: { a: { pattern: '(?=a)' } } } },
        ['outputSchema.properties.a.pattern'],
      ],
      [{ prompt: 'p', outputSchema: { $ref: 'http://example.com/x' } }, ['outputSchema.$ref']],
      [
        { prompt: 'p', outputSchema: { $schema: 'http://json-schema.org/draft-04/schema#' } },
        ['outputSchema.$schema'],
      ],
      [{ prompt: 'p', outputSchema: schema, agentKey: 'a', model: 'm' }, ['model']],
    ],
  },
  condition: {
    good: [
      when({}),
      when({ operator: 'isEmpty', value: undefined }),
      when({ operator: 'in', value: [1, 2] }, { logic: 'or', label: 'L' }),
      when({ operator: 'in', value: '{{ x.list }}' }),
      when({ operator: 'matches', value: '^a+$' }),
      when({ value: null }),
    ],
    bad: [
      [{}, ['cases']],
      [{ cases: [] }, ['cases']],
      [when({}, { id: 'else' }), ['cases.0.id']],
      [when({}, { logic: 'xor' }), ['cases.0.logic']],
      [when({}, { conditions: [] }), ['cases.0.conditions']],
      [when({ operator: 'like' }), ['cases.0.conditions.0.operator']],
      [when({ value: undefined }), ['cases.0.conditions.0.value']],
      [when({ operator: 'in', value: 'a' }), ['cases.0.conditions.0.value']],
      [when({ operator: 'matches', value: '(' }), ['cases.0.conditions.0.value']],
      [when({ operator: 'matches', value: 5 }), ['cases.0.conditions.0.value']],
      [{ cases: [...when({}).cases, ...when({}).cases] }, ['cases.1.id']],
    ],
  },
  template: {
    good: [{ template: '' }, { template: '{{ a.b }}' }],
    bad: [
      [{}, ['template']],
      [{ template: 1 }, ['template']],
    ],
  },
  code: {
    good: [
      { code: 'return 1' },
      { code: 'const a = inputs.a;\nreturn { a };', inputs: { a: '{{ x.y }}', b: [1] } },
    ],
    bad: [
      [{}, ['code']],
      [{ code: '' }, ['code']],
      [{ code: 'return {' }, ['code']],
      [{ code: '}); process.exit(1); (function () {' }, ['code']],
      [{ code: 'return 1', inputs: [] }, ['inputs']],
      [{ code: 'return 1', inputs: { '': 1 } }, ['inputs.']],
    ],
  },
  http: {
    good: [
      { method: 'GET', url: 'https://example.com/a' },
      { method: 'POST', url: '{{ in.url }}', headers: { 'X-A': '{{ in.a }}' }, body: { a: ['{{ in.b }}'] } },
    ],
    bad: [
      [{}, ['method', 'url']],
      [{ method: 'get', url: 'https://a.b' }, ['method']],
      [{ method: 'GET', url: 'ftp://a.b' }, ['url']],
      [{ method: 'GET', url: '/relative' }, ['url']],
      [{ method: 'GET', url: 'https://a.b', headers: { 'a b': 'x' } }, ['headers.a b']],
      [{ method: 'GET', url: 'https://a.b', headers: { a: 1 } }, ['headers.a']],
    ],
  },
  knowledge: {
    good: [{ credentialRef: 'kb', datasets: ['d'], query: '{{ in.q }}', limit: 5 }],
    bad: [
      [{}, ['credentialRef', 'datasets', 'query']],
      [{ credentialRef: 'kb', datasets: [], query: '', limit: 0 }, ['datasets', 'limit', 'query']],
    ],
  },
  iteration: {
    good: [
      { items: '{{ in.list }}', graph, concurrency: 3 },
      { items: [1, 'a', null], graph },
    ],
    bad: [
      [{}, ['graph', 'items']],
      [{ items: 'list', graph }, ['items']],
      [{ items: 5, graph, concurrency: 0 }, ['concurrency', 'items']],
    ],
  },
  subWorkflow: {
    good: [{ workflowName: 'a-b' }, { workflowName: 'a', version: 1, variables: { a: '{{ in.a }}' } }],
    bad: [
      [{}, ['workflowName']],
      [{ workflowName: 'A', version: 0, variables: [] }, ['variables', 'version', 'workflowName']],
    ],
  },
  humanInput: {
    good: [{}, { message: '{{ in.a }}', fields: [{ name: 'ok', type: 'boolean' }] }],
    bad: [[{ message: 1, fields: [{ name: 'a', type: 'select' }] }, ['fields.0.options', 'message']]],
  },
  delay: {
    good: [{ seconds: 0 }, { seconds: 0.25 }],
    bad: [
      [{}, ['seconds']],
      [{ seconds: -1 }, ['seconds']],
      [{ seconds: '5' }, ['seconds']],
      [{ seconds: 1e9 }, ['seconds']],
    ],
  },
  output: {
    good: [
      { fields: [] },
      {
        fields: [
          { name: 'a', value: '{{ x.y }}' },
          { name: 'b', value: null, label: 'B', type: 'string' },
        ],
      },
    ],
    bad: [
      [{}, ['fields']],
      [{ fields: [{ name: 'a' }] }, ['fields.0.value']],
      [{ fields: [{ name: '_runId', value: 1 }] }, ['fields.0.name']],
      [
        {
          fields: [
            { name: 'a', value: 1 },
            { name: 'a', value: 2 },
          ],
        },
        ['fields.1.name'],
      ],
    ],
  },
};

/** Each wrong field once: some are wrong in more than one way. */
const fieldsOf = (type: NodeType, data: Data) => [
  ...new Set(nodeTypes[type].read(data).problems.map(({ field }) => field)),
];

describe('node types', () => {
  it('are those of the contract', () => {
    expect(Object.keys(nodeTypes)).toEqual([...NODE_TYPES]);
    expect(['agent', 'Agent', 'constructor', '__proto__', null, 5].filter(isNodeType)).toEqual(['agent']);
  });

  describe.each(NODE_TYPES)('%s', (type) => {
    it.each(TABLE[type].good)('takes %j', (data) => {
      expect(nodeTypes[type].read(data).problems).toEqual([]);
    });

    it.each(TABLE[type].bad)('refuses %j', (data, fields) => {
      expect(fieldsOf(type, data).sort()).toEqual([...fields].sort());
    });

    it('takes what all nodes have, and nothing unknown', () => {
      const [data = {}] = TABLE[type].good;
      const common = {
        label: '标签',
        description: 'd',
        failStrategy: 'skip',
        timeoutSeconds: 0.5,
        retry: { maxAttempts: 3, backoffSeconds: 0, maxBackoffSeconds: 10 },
        join: 'all',
      };
      expect(fieldsOf(type, { ...data, ...common })).toEqual([]);
      const wrong = {
        label: 5,
        failStrategy: 'ignore',
        timeoutSeconds: 0,
        retry: { maxAttempts: 0, backoff: 1 },
        join: 'some',
        promtp: 'x',
      };
      expect(fieldsOf(type, { ...data, ...wrong }).sort()).toEqual([
        'failStrategy',
        'join',
        'label',
        'promtp',
        'retry.backoff',
        'retry.maxAttempts',
        'timeoutSeconds',
      ]);
    });
  });

  it('say what they read and offer, also beside broken keys', () => {
    const agent = nodeTypes.agent.read({ prompt: '{{ a.b }}', model: 5 });
    expect(agent.templates).toEqual([{ field: 'prompt', text: '{{ a.b }}' }]);
    const condition = nodeTypes.condition.read(when({ value: ['{{ c.d }}'] }));
    expect(condition).toMatchObject({
      handles: ['a', 'else'],
      references: [{ field: 'cases.0.conditions.0.variable', path: 'x.y' }],
      templates: [{ field: 'cases.0.conditions.0.value.0', text: '{{ c.d }}' }],
    });
    expect(nodeTypes.condition.read({ cases: 'x' }).handles).toBeNull();
    expect(nodeTypes.iteration.read({ items: [], graph }).subGraph).toEqual({ field: 'graph', graph });
    expect(
      nodeTypes.http.read({ method: 'GET', url: '{{ a }}', headers: { x: '{{ b }}' }, body: '{{ c }}' })
        .templates,
    ).toEqual([
      { field: 'url', text: '{{ a }}' },
      { field: 'headers.x', text: '{{ b }}' },
      { field: 'body', text: '{{ c }}' },
    ]);
  });
});
