import type { JsonObject } from '../../common/json/json-value.js';
import { renderText } from '../../workflows/templates/index.js';
import type { KnowledgeChunk, KnowledgeRetrieval } from './knowledge-retrieval.js';
import type { NodeExecutor, NodeResult, NodeVisit } from './node-executor.js';
import { NodeFailure } from './node-failure.js';

const DEFAULT_LIMIT = 5;
const MAX_QUERY_CHARACTERS = 20_000;

/** `knowledge`: what a knowledge base finds for a query; `{text, chunks}`, `text` being the chunks one after the other. */
export class KnowledgeExecutor implements NodeExecutor {
  readonly type = 'knowledge';

  /** Without a provider every visit fails (decision 6). */
  constructor(private readonly retrieval: KnowledgeRetrieval | null) {}

  async execute({ node, scope }: NodeVisit, signal: AbortSignal): Promise<NodeResult> {
    const {
      credentialRef,
      datasets,
      limit,
      query: template,
    } = node.data as unknown as {
      credentialRef: string;
      datasets: string[];
      query: string;
      limit?: number;
    };
    if (!this.retrieval) {
      const message = `credentials.${credentialRef} names no knowledge base: this version has no provider of any`;
      throw new NodeFailure('runtime_unavailable', message);
    }
    const query = (await renderText(template, scope)).trim();
    if (query === '') throw new NodeFailure('KNOWLEDGE_QUERY', 'the query is empty');
    if (query.length > MAX_QUERY_CHARACTERS) {
      throw new NodeFailure('KNOWLEDGE_QUERY', `the query is longer than ${MAX_QUERY_CHARACTERS} characters`);
    }
    const wanted = { credentialRef, datasets, query, limit: limit ?? DEFAULT_LIMIT };
    const chunks = await this.retrieval.retrieve(wanted, signal);
    return { kind: 'completed', data: knowledgeData(chunks) };
  }
}

function knowledgeData(chunks: readonly KnowledgeChunk[]): JsonObject {
  return {
    text: chunks.map(({ text }) => text).join('\n\n'),
    chunks: chunks.map(({ text, chunkId, documentId, documentName, datasetId, similarity }) => ({
      text,
      chunkId,
      documentId,
      documentName,
      datasetId,
      similarity,
    })),
  };
}
