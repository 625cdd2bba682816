import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TestServer } from '../support/test-server.js';

type Json = Record<string, unknown>;
interface Node extends Json {
  id: string;
  type: string;
}
interface Snippet {
  /** `node-types.md: good`, for the name of the test. */
  title: string;
  json: Json;
  /** Marked `<!-- unavailable -->`: refused in this version, as the page says. */
  unavailable: boolean;
}

const DOCS = path.resolve(import.meta.dirname, '../../docs');

function snippets(): Snippet[] {
  return readdirSync(DOCS)
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => {
      const text = readFileSync(path.join(DOCS, file), 'utf8');
      return [...text.matchAll(/(<!-- unavailable -->\n)?```json\n([^]*?)\n```/g)].map(
        ([, mark, block = '']) => {
          const json = JSON.parse(block) as Json;
          return { title: `${file}: ${String(json.name ?? json.id)}`, json, unavailable: mark !== undefined };
        },
      );
    });
}

const definitions = snippets().filter(({ json }) => 'graphData' in json);
const nodes = snippets().filter(({ json }) => 'type' in json) as (Snippet & { json: Node })[];

/** What the examples read of nodes that the page does not show. */
const DATA: Readonly<Record<string, Json>> = {
  review: { score: 9 },
  list: { items: [{ price: 2 }, { price: 3 }] },
  outline: { chapters: [{ title: 'one' }, { title: 'two' }] },
  draft: { text: 'a draft' },
  research: { text: 'found' },
};
const VARIABLES = { topic: '量子', text: 'it breaks', name: 'Ann', city: 'Köln' };

/** A workflow around one node: before it the nodes that it reads, behind it an output. */
function around(node: Node): Json {
  const read = Object.keys(DATA).filter(
    (id) => id !== node.id && JSON.stringify(node.data).includes(`${id}.`),
  );
  const given = (id: string): Node => ({
    id,
    type: 'code',
    data: { code: `return ${JSON.stringify(DATA[id])};` },
  });
  const fields = Object.keys(VARIABLES).map((name) => ({ name, type: 'string' }));
  const chain: Node[] = [
    ...(node.type === 'userInput' ? [] : [{ id: 'in', type: 'userInput', data: { fields } }]),
    ...read.map(given),
    node,
    ...(node.type === 'output' ? [] : [{ id: 'end', type: 'output', data: { fields: [] } }]),
  ];
  const edges = chain.slice(1).map(({ id }, at) => ({ id: `e${at}`, source: chain[at]?.id, target: id }));
  return { mode: 'DAG', graphData: { nodes: chain, edges } };
}

/** What the node of each example leaves behind. Those that need something outside are not run. */
const OUTPUTS: Readonly<Record<string, unknown>> = {
  in: expect.objectContaining({ topic: '量子' }),
  research: expect.objectContaining({ text: expect.stringContaining('Demo model') as string }),
  classify: { label: 'bug' },
  good: { case: 'yes' },
  letter: { text: 'Dear Ann,\na draft' },
  sum: { total: 5 },
  // Each chapter's writer asks the bridge's context tools about `in` and `outline`, which come before the iteration.
  each: {
    items: Array.from({ length: 2 }, () => ({
      text: expect.stringMatching(/read 2 predecessors\.[^]*outline/) as string,
    })),
  },
  check: { verdict: 'true' },
  approve: { ok: true },
  cool: {},
  out: { summary: 'found' },
};
const NEEDS_MORE = ['weather'];

describe('the definitions in docs/', () => {
  let database: TestDatabase;
  let server: TestServer;

  beforeAll(async () => {
    database = await createTestDatabase();
    server = await TestServer.start({ databaseUrl: database.url, environment: { NODE_ENV: 'development' } });
    await admin('POST', '/workflows', {
      name: 'fact-check',
      mode: 'DAG',
      graphData: {
        nodes: [
          { id: 'in', type: 'userInput', data: { fields: [{ name: 'text', type: 'string' }] } },
          { id: 'out', type: 'output', data: { fields: [{ name: 'verdict', value: 'true' }] } },
        ],
        edges: [{ id: 'e', source: 'in', target: 'out' }],
      },
    });
  });
  afterAll(async () => {
    await server.stop();
    await database.close();
  });

  async function admin(
    method: string,
    route: string,
    body: unknown,
  ): Promise<{ status: number; details?: Json[] }> {
    const answer = await server.request(method, `/admin/v1${route}`, body);
    return { status: answer.status, ...((await answer.json()) as { details?: Json[] }) };
  }

  /** Runs the workflow to its end, answering whatever it asks a person for; gives its result. */
  async function result(name: string): Promise<Json> {
    const variables = VARIABLES;
    const runs = `/api/v1/workflows/${name}/runs`;
    const created = (await (await server.request('POST', runs, { variables })).json()) as {
      data: { runId: string; links: Record<'start' | 'stream' | 'result', string> };
    };
    const { links } = created.data;
    await server.request('POST', links.start);
    const stream = await fetch(`${server.url}${links.stream}`, { headers: { 'X-API-Key': 'demo-key' } });
    const decoder = new TextDecoder();
    const answered = new Set<string>();
    let text = '';
    for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true });
      for (const [, nodeId = ''] of text.matchAll(/"nodeId":"(\w+)"[^\n]*"status":"WAITING"[^\n]*\n\n/g)) {
        if (answered.has(nodeId)) continue;
        answered.add(nodeId);
        // Refused where the node waits for something else: time, or a child.
        await server.request('POST', `${links.result}/nodes/${nodeId}/input`, { values: { ok: true } });
      }
    }
    return ((await (await server.request('GET', links.result)).json()) as { data: Json }).data;
  }

  it('are all looked at', () => {
    expect(definitions.length).toBeGreaterThan(0);
    expect(definitions.length + nodes.length).toBe(snippets().length);
    const shown = nodes.map(({ json }) => json.id);
    const known = [...Object.keys(OUTPUTS), ...NEEDS_MORE];
    expect(nodes.filter(({ json, unavailable }) => !unavailable && !known.includes(json.id))).toEqual([]);
    expect(known.filter((id) => !shown.includes(id))).toEqual([]);
  });

  it.each(definitions)('$title is saved as it stands, and runs', async ({ json }) => {
    expect(await admin('POST', '/workflows', json)).toMatchObject({ status: 201 });
    expect(await result(String(json.name))).toMatchObject({ status: 'SUCCESS', error: null });
  });

  it.each(nodes)(
    '$title is saved as it stands, and does what the page says',
    async ({ json, unavailable }) => {
      const name = `example-${nodes.findIndex((one) => one.json === json)}`;
      const saved = await admin('POST', '/workflows', { name, ...around(json) });
      if (unavailable) {
        expect(saved.details?.map(({ code }) => code)).toEqual(['NODE_UNAVAILABLE']);
        return;
      }
      expect([saved.status, saved.details]).toEqual([201, undefined]);
      if (NEEDS_MORE.includes(json.id)) return;
      const { nodes: visited, error } = await result(name);
      expect(error).toBeNull();
      const node = (visited as { nodeId: string; output: unknown }[]).find(
        ({ nodeId }) => nodeId === json.id,
      );
      expect(node?.output).toEqual(OUTPUTS[json.id]);
    },
  );
});
