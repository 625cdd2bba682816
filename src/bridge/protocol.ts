/** The bridge protocol of contract.md: the only thing the server and the bridge process share. */

/** The tools that an agent may name; the bridge has no others. */
const BUILT_IN_TOOL_NAMES = ['list_files', 'read_file', 'write_file', 'update_todo'] as const;

/** The tools that come by themselves where there is a context query; an agent may name them all the same. */
const CONTEXT_TOOL_NAMES = ['get_predecessor_paths', 'get_node_output', 'get_node_meta'] as const;

export const TOOL_NAMES = [...BUILT_IN_TOOL_NAMES, ...CONTEXT_TOOL_NAMES] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

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
  /** Planner only (`node_id: "planner"`): answers asked of it so far in the run, re-asks included, from 0. */
  plan_index?: number;
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
  /** Cumulative: the last one of an answer counts. */
  | { event: 'usage'; data: { prompt_tokens: number; completion_tokens: number; total_tokens: number } }
  | {
      event: 'result';
      data: {
        text: string;
        data: Record<string, unknown> | null;
        /** Why the model stopped; absent means `stop`. */
        finish_reason?: 'stop' | 'length';
      };
    }
  | { event: 'error'; data: BridgeFailure };

/**
 * Why a run of the bridge ended without an answer. `code` is one of the failure types of
 * agent-runtime-protocol.md §4.2 where one fits, else a word of the bridge's own.
 */
export interface BridgeFailure {
  code: string;
  message: string;
  retryable: boolean;
}

/** The one line a managed bridge prints to stdout once it listens. */
export interface BridgeAnnouncement {
  port: number;
}

/** What a managed bridge is told through its environment; it deletes the secrets from `process.env` at once. */
export const BRIDGE_ENV = {
  /** Bearer token of every request. */
  secret: 'BRIDGE_SECRET',
  /** 0 or absent: a free port. */
  port: 'BRIDGE_PORT',
  /** `stdin`: the bridge exits when its standard input closes, that is when its parent is gone. */
  parent: 'BRIDGE_PARENT',
  llmBaseUrl: 'BRIDGE_LLM_BASE_URL',
  llmApiKey: 'BRIDGE_LLM_API_KEY',
  maxToolCalls: 'BRIDGE_MAX_TOOL_CALLS',
  /** `true` lets the demo model run. */
  allowDemo: 'BRIDGE_ALLOW_DEMO',
  logLevel: 'BRIDGE_LOG_LEVEL',
} as const;

/** Largest payload of one event, in characters; what is larger is replaced by an error. */
export const MAX_EVENT_CHARS = 4 * 1024 * 1024;
