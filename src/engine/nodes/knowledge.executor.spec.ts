import { nodeVisit } from '../../../test/factories/node-visit.js';
import type { KnowledgeChunk, KnowledgeQuery } from './knowledge-retrieval.js';
import { KnowledgeExecutor } from './knowledge.executor.js';

const data = { credentialRef: 'kb', datasets: ['d1'], query: 'What is {{ in.topic }}?' };
const scope = { in: { topic: '量子', empty: ' ' } };

function chunk(text: string, similarity: number): KnowledgeChunk {
  return {
    text,
    chunkId: `c-${text}`,
    documentId: 'doc',
    documentName: '文.pdf',
    datasetId: 'd1',
    similarity,
  };
}

describe('knowledge', () => {
  const signal = new AbortController().signal;

  it('asks for the rendered query and gives the chunks and their text', async () => {
    const asked: KnowledgeQuery[] = [];
    const chunks = [chunk('one', 0.9), chunk('two', 0.5)];
    const executor = new KnowledgeExecutor({
      retrieve: (query) => {
        asked.push(query);
        return Promise.resolve(chunks);
      },
    });
    expect(await executor.execute(nodeVisit('knowledge', data, { scope }), signal)).toEqual({
      kind: 'completed',
      data: { text: 'one\n\ntwo', chunks },
    });
    await executor.execute(nodeVisit('knowledge', { ...data, limit: 2 }, { scope }), signal);
    const common = { credentialRef: 'kb', datasets: ['d1'], query: 'What is 量子?' };
    expect(asked).toEqual([
      { ...common, limit: 5 },
      { ...common, limit: 2 },
    ]);
  });

  it('fails closed without a knowledge base', async () => {
    const visit = nodeVisit('knowledge', data, { scope });
    await expect(new KnowledgeExecutor(null).execute(visit, signal)).rejects.toMatchObject({
      code: 'runtime_unavailable',
      message: 'credentials.kb names no knowledge base: this version has no provider of any',
    });
  });

  it('refuses an empty query', async () => {
    const executor = new KnowledgeExecutor({ retrieve: () => Promise.resolve([]) });
    const visit = nodeVisit('knowledge', { ...data, query: '{{ in.empty }}' }, { scope });
    await expect(executor.execute(visit, signal)).rejects.toMatchObject({ code: 'KNOWLEDGE_QUERY' });
  });
});
