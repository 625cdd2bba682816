import type { JsonObject } from '../../common/json/json-value.js';
import type { SecretRedactor } from '../../credentials/index.js';
import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import type { OutputContract } from '../protocol/agent-runtime-request.js';
import type { RuntimeFailure, RuntimeOutput } from '../protocol/agent-runtime-response.js';
import { failureOf } from '../protocol/failure-classification.js';
import { ShownText } from '../protocol/shown-text.js';
import { orFailed, structuredAnswer } from '../protocol/structured-answer.js';
import type { ProcessSignal } from './process-frames.js';

const MAX_TEXT_CHARS = 16 * 1024 * 1024;

export type ProcessEnd =
  | { kind: 'succeeded'; output: RuntimeOutput; partial: boolean }
  | { kind: 'failed'; failure: RuntimeFailure };

/** Gathers the frames of one `/process` call. Texts that are repeated whole after their deltas count once. */
export class ProcessAnswer {
  responseId: string | null = null;
  /** The first terminal frame decides. */
  end: ProcessEnd | null = null;

  readonly #types = new Map<string, string>();
  /** Text by message and part, in the order in which they began. */
  readonly #texts = new Map<string, { type: string; text: string }>();
  readonly #tools = new Set<string>();
  readonly #usage = new Map<
    string | null,
    { promptTokens: number | null; completionTokens: number | null }
  >();
  #data: JsonObject | null = null;
  #wantsApproval = false;
  #chars = 0;
  readonly #shown: ShownText;

  constructor(
    private readonly contract: OutputContract,
    private readonly redactor: SecretRedactor,
  ) {
    this.#shown = new ShownText(redactor);
  }

  /** Of all messages where they tell it; the response's own is that of its last message only. */
  get usage(): { promptTokens: number | null; completionTokens: number | null } {
    const ofMessages = [...this.#usage].filter(([messageId]) => messageId !== null).map(([, usage]) => usage);
    const counted = ofMessages.length > 0 ? ofMessages : [...this.#usage.values()];
    return {
      promptTokens: sum(counted.map(({ promptTokens }) => promptTokens)),
      completionTokens: sum(counted.map(({ completionTokens }) => completionTokens)),
    };
  }

  accept(signal: ProcessSignal): AgentRuntimeEvent[] {
    if (this.end) return [];
    switch (signal.kind) {
      case 'response':
        this.responseId ??= signal.id;
        return [];
      case 'message':
        this.#types.set(signal.messageId, signal.type);
        return [];
      case 'piece':
        return this.#piece(signal);
      case 'data':
        if (this.#typeOf(signal.messageId) === 'message') this.#data = signal.data;
        return [];
      case 'tool_call':
        if (!this.#isNew(`call ${signal.callId}`)) return [];
        return [
          {
            type: 'runtime.tool_call',
            callId: signal.callId,
            tool: signal.tool,
            args: this.redactor.redactDeep(signal.args),
          },
        ];
      case 'tool_result':
        if (!this.#isNew(`result ${signal.callId}`)) return [];
        return [
          {
            type: 'runtime.tool_result',
            callId: signal.callId,
            tool: signal.tool,
            result: this.redactor.redactDeep(signal.result),
            error: null,
          },
        ];
      case 'usage':
        this.#usage.set(signal.messageId, signal);
        return [];
      case 'approval':
        this.#wantsApproval = true;
        return [];
      case 'heartbeat':
        return [{ type: 'runtime.heartbeat' }];
      case 'ended':
        this.end = orFailed(() => this.#endOf(signal.status));
        return this.#shown.flush();
      case 'failed':
        this.end = { kind: 'failed', failure: this.#failureOf(signal) };
        return this.#shown.flush();
    }
  }

  #piece({
    messageId,
    index,
    text,
    isWhole,
  }: Extract<ProcessSignal, { kind: 'piece' }>): AgentRuntimeEvent[] {
    const type = this.#typeOf(messageId);
    if (type !== 'message' && type !== 'reasoning') return [];
    const key = `${messageId} ${String(index)}`;
    const known = this.#texts.get(key);
    const before = known?.text ?? '';
    // A whole text that goes on where the deltas stopped brings its rest; one that differs from them replaces them.
    const added = !isWhole ? text : text.startsWith(before) ? text.slice(before.length) : '';
    if (added === '' && (!isWhole || text === '')) return [];
    const opens = !known && type === 'message' && this.#text() !== '' ? '\n\n' : '';
    this.#texts.set(key, { type, text: isWhole ? text : before + text });
    this.#chars += added.length;
    if (this.#chars > MAX_TEXT_CHARS) {
      const failure = failureOf('provider_bad_response', 'the answer passes its limit of size', {
        code: 'too_large',
      });
      this.end = { kind: 'failed', failure };
      return [];
    }
    if (added === '') return [];
    return this.#shown.push(type === 'message' ? 'text' : 'thinking', opens + added);
  }

  #endOf(status: 'completed' | 'canceled' | 'incomplete'): ProcessEnd {
    if (status === 'canceled') return failedEnd('the run was cancelled in AgentScope', 'canceled');
    const text = this.#text();
    if (this.#wantsApproval && text === '')
      return failedEnd('the run waits for an approval in AgentScope', 'approval');
    if (status === 'incomplete' && text === '')
      return failedEnd('the run ended without an answer', 'incomplete');
    const data = this.#data ?? structuredAnswer(text, this.contract);
    const output = { text: text === '' && data ? JSON.stringify(data) : text, data };
    return { kind: 'succeeded', output, partial: status === 'incomplete' };
  }

  #failureOf({ code, message, isBare }: Extract<ProcessSignal, { kind: 'failed' }>): RuntimeFailure {
    const why = message ? `: ${message}` : '';
    if (isBare && this.responseId === null) {
      return failureOf('provider_bad_request', `AgentScope refused the call${why}`, {
        code,
        httpStatus: 200,
      });
    }
    return failureOf('provider_run_failed', `the run failed in AgentScope${why}`, { code });
  }

  #text(): string {
    return [...this.#texts.values()]
      .filter(({ type }) => type === 'message')
      .map(({ text }) => text)
      .join('\n\n');
  }

  #typeOf(messageId: string): string {
    return this.#types.get(messageId) ?? 'message';
  }

  #isNew(key: string): boolean {
    if (this.#tools.has(key)) return false;
    this.#tools.add(key);
    return true;
  }
}

function failedEnd(message: string, code: string): ProcessEnd {
  return { kind: 'failed', failure: failureOf('provider_run_failed', message, { code }) };
}

function sum(values: (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0);
}
