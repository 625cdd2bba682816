/** The bridge protocol of contract.md: the only thing the server and the bridge process share. */

/** Body of `POST {bridge}/run`. */
export interface BridgeRunRequest {
  run_id: string;
  visit_uuid: string;
  node_id: string;
  model: string;
  instructions: string;
  prompt: string;
  /** Names of built-in tools; the context tools come by themselves where `context_query` is set. */
  tools: string[];
  /** Absolute path of the run's workspace. */
  workspace_dir: string;
  /** JSON Schema the answer must satisfy, or null for free text. */
  output_schema: Record<string, unknown> | null;
  timeout_seconds: number;
  /** Which attempt of the visit this is, from 1 (`@flake` of the demo model counts it). */
  attempt?: number;
  context_query?: BridgeContextQuery;
}

export interface BridgeContextQuery {
  base_url: string;
  token: string;
  run_id: string;
  visit_uuid: string;
}

/** Events of the answer, each one SSE frame `event: NAME` with `data` as JSON; exactly one of result/error ends it. */
export type BridgeEvent =
  | { event: 'thinking'; data: { text: string } }
  | { event: 'text'; data: { text: string } }
  | { event: 'tool_call'; data: { call_id: string; tool: string; args: unknown } }
  | { event: 'tool_result'; data: { call_id: string; tool: string; result: unknown; error: string | null } }
  | { event: 'todo_update'; data: { todos: unknown[] } }
  | { event: 'usage'; data: { prompt_tokens: number; completion_tokens: number; total_tokens: number } }
  | { event: 'result'; data: { text: string; data: Record<string, unknown> | null } }
  | { event: 'error'; data: { code: string; message: string; retryable: boolean } };
