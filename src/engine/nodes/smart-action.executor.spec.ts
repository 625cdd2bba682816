import { nodeVisit } from '../../../test/factories/node-visit.js';
import { says, ScriptedRuntime } from '../../../test/support/engine/scripted-runtime.js';
import { JsonSchemaValidator } from '../../common/json-schema/index.js';
import type { JsonObject } from '../../common/json/json-value.js';
import type { ContextTokens } from '../../context-query/index.js';
import { CallRuntime } from './call-runtime.js';
import { agentResolver, type AgentCatalogue } from './resolve-agent.js';
import { SmartActionExecutor } from './smart-action.executor.js';

const outputSchema: JsonObject = {
  type: 'object',
  properties: {
    title: { type: 'string', pattern: '^[A-Z]' },
    tags: {
      type: 'array',
      items: { type: 'object', required: ['name'], additionalProperties: false, properties: { name: {} } },
    },
    level: { enum: ['low', 'high'] },
  },
  required: ['title'],
};

describe('smartAction', () => {
  const validator = new JsonSchemaValidator({ threads: 1, timeoutMillis: 1_500 });
  afterAll(() => validator.close());
  const tokens = { ready: () => Promise.resolve(), issue: () => null } as unknown as ContextTokens;
  const { signal } = new AbortController();

  function act(
    text: string,
    data: JsonObject | null,
    node: object = {},
    catalogue: AgentCatalogue | null = null,
  ) {
    const runtime = new ScriptedRuntime().on('n', () => [says(text, data)]);
    const executor = new SmartActionExecutor(
      agentResolver(catalogue, 'm'),
      new CallRuntime(runtime, tokens, { create: () => Promise.resolve('') }),
      validator,
    );
    const given = { prompt: 'About {{ in.topic }}', outputSchema, ...node };
    const ended = executor.execute(
      nodeVisit('smartAction', given, { scope: { in: { topic: '量子' } } }),
      signal,
    );
    return { ended, requests: runtime.requests };
  }

  it('asks once, with the schema and without tools, and gives the keys of the answer', async () => {
    const answer = { title: 'Quanta', tags: [{ name: 'x' }], more: 1 };
    const { ended, requests } = act(JSON.stringify(answer), answer, { model: 'other' });
    expect(await ended).toEqual({ kind: 'completed', data: answer });
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      agentRef: { provider: { hermes: { model: 'other' } } },
      inputEnvelope: { instruction: 'About 量子' },
      outputContract: { type: 'json', schema: outputSchema },
      workbench: { tools: [] },
    });
  });

  it('reads an answer that comes as text only', async () => {
    expect(await act('{"title": "A"}', null).ended).toEqual({ kind: 'completed', data: { title: 'A' } });
  });

  it.each<[string, JsonObject | null, string]>([
    ['not JSON', null, 'the answer is not a JSON object'],
    ['[1]', null, 'the answer is not a JSON object'],
    ['', {}, 'the answer does not fit outputSchema: title is required'],
    ['', { title: 5 }, 'the answer does not fit outputSchema: title must be string'],
    ['', { title: 'a' }, 'the answer does not fit outputSchema: title must match pattern "^[A-Z]"'],
    [
      '',
      { title: 'A', tags: [{ name: 1 }, {}] },
      'the answer does not fit outputSchema: tags.1.name is required',
    ],
    [
      '',
      { title: 'A', tags: [{ name: 1, x: 2 }] },
      'the answer does not fit outputSchema: tags.0.x is not allowed',
    ],
    [
      '',
      { title: 'A', level: 'mid' },
      'the answer does not fit outputSchema: level must be equal to one of the allowed values: ["low","high"]',
    ],
  ])('fails on %s %j', async (text, data, message) => {
    await expect(act(text, data).ended).rejects.toMatchObject({
      code: 'OUTPUT_SCHEMA',
      message,
      retryable: false,
    });
  });

  it('is not held up by a pattern or a schema that could take for ever', async () => {
    const evil = { type: 'object', properties: { s: { pattern: '^(a+)+$' } } };
    const answer = { s: `${'a'.repeat(50_000)}b` };
    await expect(act('', answer, { outputSchema: evil }).ended).rejects.toThrow(/s must match pattern/);

    const level = (n: number): JsonObject => ({
      anyOf: [{ $ref: `#/definitions/l${n + 1}` }, { $ref: `#/definitions/l${n + 1}` }],
    });
    const definitions: JsonObject = { l40: { type: 'string' } };
    for (let n = 0; n < 40; n += 1) definitions[`l${n}`] = level(n);
    const deep = { ...level(0), definitions };
    await expect(act('', { s: 1 }, { outputSchema: deep }).ended).rejects.toThrow(/took too long/);
    await expect(act('', { s: 'b' }, { outputSchema: evil }).ended).rejects.toThrow(/s must match pattern/);
  });

  it('lets a published agent answer', async () => {
    const catalogue: AgentCatalogue = {
      resolve: () =>
        Promise.resolve({
          agentRef: {
            agentKey: 'tagger',
            version: 2,
            slotKey: null,
            provider: { runtimeProvider: 'new-api', newApi: { model: 'x', credentialRef: 'c' } },
          },
          instructions: 'Tag.',
          outputContract: { type: 'text' },
          tools: [],
          policies: { timeoutPolicy: { totalSeconds: 5, idleSeconds: 5 } },
        }),
    };
    const { ended, requests } = act('{"title":"A"}', null, { agentKey: 'tagger' }, catalogue);
    await ended;
    expect(requests[0]).toMatchObject({
      agentRef: { agentKey: 'tagger', version: 2 },
      inputEnvelope: { instructions: 'Tag.' },
      outputContract: { type: 'json', schema: outputSchema },
      timeoutPolicy: { totalSeconds: 5 },
    });
  });
});
