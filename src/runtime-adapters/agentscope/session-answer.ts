import type { SecretRedactor } from '../../credentials/index.js';
import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import type { OutputContract } from '../protocol/agent-runtime-request.js';
import type { RuntimeFailure, RuntimeOutput } from '../protocol/agent-runtime-response.js';
import { failureOf } from '../protocol/failure-classification.js';
import { ShownText } from '../protocol/shown-text.js';
import { orFailed, structuredAnswer } from '../protocol/structured-answer.js';
import { toolValue, type SessionEvent } from './session-frames.js';

const MAX_TEXT_CHARS = 16 * 1024 * 1024;

export type SessionEnd =
  | { kind: 'succeeded'; output: RuntimeOutput; partial: boolean }
  | { kind: 'failed'; failure: RuntimeFailure }
  | { kind: 'interrupted' };

/** Gathers the events of the one reply that we asked for, over as many connections as it takes. */
export class SessionAnswer {
  end: SessionEnd | null = null;
  promptTokens: number | null = null;
  completionTokens: number | null = null;

  readonly #seen = new Set<string>();
  readonly #blocks = new Map<string, string>();
  readonly #tools = new Map<string, { tool: string; args: string; output: string }>();
  readonly #shown: ShownText;
  #replyId: string | null = null;
  #isReplay = false;
  #chars = 0;

  constructor(
    private readonly contract: OutputContract,
    private readonly redactor: SecretRedactor,
  ) {
    this.#shown = new ShownText(redactor);
  }

  /** A further connection replays the run from its beginning: gather anew, and report nothing twice. */
  restart(): void {
    this.#isReplay = true;
    this.#seen.clear();
    this.#blocks.clear();
    this.#tools.clear();
    this.promptTokens = null;
    this.completionTokens = null;
    this.#chars = 0;
  }

  accept(event: SessionEvent): AgentRuntimeEvent[] {
    const events = this.#accepted(event);
    return this.#isReplay ? [] : events;
  }

  #accepted({ id, replyId, signal }: SessionEvent): AgentRuntimeEvent[] {
    if (this.end || !this.#isOurs(replyId) || !this.#isNew(id)) return [];
    switch (signal.kind) {
      case 'reply_start':
        this.#replyId ??= signal.replyId;
        return [];
      case 'text':
        return this.#appended(signal.blockId, signal.text);
      case 'text_end':
        this.#blocks.set(signal.blockId, signal.text);
        return [];
      case 'thinking':
        return this.#shown.push('thinking', signal.text);
      case 'tool_start':
        this.#tools.set(signal.callId, { tool: signal.tool, args: '', output: '' });
        return [];
      case 'tool_args':
        this.#growTool(signal.callId, 'args', signal.piece);
        return [];
      case 'tool_output':
        this.#growTool(signal.callId, 'output', signal.piece);
        return [];
      case 'tool_call':
        return this.#toolCall(signal.callId);
      case 'tool_result':
        return this.#toolResult(signal.callId, signal.state);
      case 'usage':
        this.promptTokens = (this.promptTokens ?? 0) + signal.promptTokens;
        this.completionTokens = (this.completionTokens ?? 0) + signal.completionTokens;
        return [];
      case 'waits':
        this.end = failedEnd('the run waits for a person or a tool outside in AgentScope', 'paused');
        return this.#shown.flush();
      case 'reply_end':
        this.end = orFailed(() => this.#endOf(signal));
        return this.#shown.flush();
    }
  }

  #appended(blockId: string, text: string): AgentRuntimeEvent[] {
    if (text === '') return [];
    const known = this.#blocks.get(blockId);
    const opens = known === undefined && this.#blocks.size > 0 ? '\n\n' : '';
    this.#blocks.set(blockId, (known ?? '') + text);
    this.#chars += text.length;
    if (this.#chars > MAX_TEXT_CHARS) {
      const failure = failureOf('provider_bad_response', 'the answer passes its limit of size', {
        code: 'too_large',
      });
      this.end = { kind: 'failed', failure };
      return [];
    }
    return this.#shown.push('text', opens + text);
  }

  #growTool(callId: string, what: 'args' | 'output', piece: string): void {
    const tool = this.#tools.get(callId);
    if (tool && tool[what].length < MAX_TEXT_CHARS) tool[what] += piece;
  }

  #toolCall(callId: string): AgentRuntimeEvent[] {
    const { tool, args } = this.#tools.get(callId) ?? { tool: '', args: '' };
    return [{ type: 'runtime.tool_call', callId, tool, args: this.redactor.redactDeep(toolValue(args)) }];
  }

  #toolResult(callId: string, state: string): AgentRuntimeEvent[] {
    const { tool, output } = this.#tools.get(callId) ?? { tool: '', output: '' };
    const error = state === 'error' || state === 'denied' || state === 'interrupted' ? state : null;
    return [
      {
        type: 'runtime.tool_result',
        callId,
        tool,
        result: this.redactor.redactDeep(toolValue(output)),
        error,
      },
    ];
  }

  #endOf({
    reason,
    code,
    message,
  }: {
    reason: string;
    code: string | null;
    message: string | null;
  }): SessionEnd {
    const text = [...this.#blocks.values()].join('\n\n');
    switch (reason) {
      case 'completed':
        return {
          kind: 'succeeded',
          output: { text, data: structuredAnswer(text, this.contract) },
          partial: false,
        };
      case 'exceed_max_iters':
        return text === ''
          ? failedEnd('the agent used up its iterations without an answer', reason)
          : {
              kind: 'succeeded',
              output: { text, data: structuredAnswer(text, this.contract) },
              partial: true,
            };
      case 'interrupted':
        return { kind: 'interrupted' };
      default:
        return failedEnd(`the run failed in AgentScope${message ? `: ${message}` : ''}`, code ?? reason);
    }
  }

  /** A session may be shared with somebody else's runs; the first reply after our post is ours. */
  #isOurs(replyId: string | null): boolean {
    return replyId === null || this.#replyId === null || replyId === this.#replyId;
  }

  #isNew(id: string | null): boolean {
    if (id === null) return true;
    if (this.#seen.has(id)) return false;
    this.#seen.add(id);
    return true;
  }
}

function failedEnd(message: string, code: string): SessionEnd {
  return { kind: 'failed', failure: failureOf('provider_run_failed', message, { code }) };
}
