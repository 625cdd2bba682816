import type { AgentAnswer, AgentVisit } from '../agent.js';
import { ToolError } from '../tools/bridge-tool.js';
import { UPDATE_TODO } from '../tools/update-todo.tool.js';

/** Says and does things in a visit, and reports each as an event. */
export class VisitReport {
  readonly #visit: AgentVisit;
  #calls = 0;
  #said = 0;
  #thoughtBytes = 0;
  /** The last tool result, `{error}` of one that failed, null before the first. */
  last: unknown = null;

  constructor(visit: AgentVisit) {
    this.#visit = visit;
  }

  async think(text: string): Promise<void> {
    this.#thoughtBytes += Buffer.byteLength(text);
    await this.#visit.emit({ event: 'thinking', data: { text } });
  }

  /** Lines of the answer; the separating line breaks are added here. */
  async say(text: string): Promise<void> {
    const separator = this.#said === 0 ? '' : '\n';
    this.#said += 1;
    await this.#visit.emit({ event: 'text', data: { text: separator + text } });
  }

  async todo(todos: unknown[]): Promise<void> {
    await this.#visit.emit({ event: 'todo_update', data: { todos } });
  }

  /** A real tool call. One that fails is shown with its error, and the visit goes on, as with any model. */
  async call(tool: string, args: unknown): Promise<void> {
    const { emit, toolbox, signal } = this.#visit;
    this.#calls += 1;
    const call_id = `call_${this.#calls}`;
    await emit({ event: 'tool_call', data: { call_id, tool, args } });
    try {
      const result = await toolbox.call(tool, args, signal);
      this.last = result;
      await emit({ event: 'tool_result', data: { call_id, tool, result, error: null } });
      if (tool === UPDATE_TODO) await this.todo((args as { todos: unknown[] }).todos);
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      this.last = { error: error.message };
      await emit({ event: 'tool_result', data: { call_id, tool, result: null, error: error.message } });
    }
  }

  /** The demo model's own count: one token for every four bytes of what went in and came out. */
  async usage({ text }: AgentAnswer): Promise<void> {
    const { instructions, prompt } = this.#visit.request;
    const prompt_tokens = tokens(Buffer.byteLength(instructions) + Buffer.byteLength(prompt));
    const completion_tokens = tokens(Buffer.byteLength(text) + this.#thoughtBytes);
    const total_tokens = prompt_tokens + completion_tokens;
    await this.#visit.emit({ event: 'usage', data: { prompt_tokens, completion_tokens, total_tokens } });
  }
}

function tokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}
