/** A piece of a document that a knowledge base found. */
export interface KnowledgeChunk {
  text: string;
  chunkId: string;
  documentId: string;
  documentName: string;
  datasetId: string;
  /** 0 to 1. */
  similarity: number;
}

export interface KnowledgeQuery {
  /** Which knowledge base, and with which key: a name from the configuration's `credentials`. */
  credentialRef: string;
  datasets: readonly string[];
  query: string;
  /** Chunks at most. */
  limit: number;
}

/** Port to knowledge bases. Throws NodeFailure; best matches come first. */
export interface KnowledgeRetrieval {
  retrieve(query: KnowledgeQuery, signal: AbortSignal): Promise<KnowledgeChunk[]>;
}
