import type { JsonObject } from '../../common/json/json-value.js';
import type { SecretRedactor } from '../../credentials/index.js';
import type { AgentRuntimeEvent } from '../protocol/agent-runtime-event.js';
import type { OutputContract } from '../protocol/agent-runtime-request.js';
import type { RuntimeFailure, RuntimeOutput } from '../protocol/agent-runtime-response.js';
import { failureOf } from '../protocol/failure-classification.js';
import { ShownText } from '../protocol/shown-text.js';
import { orFailed, structuredAnswer } from '../protocol/structured-answer.js';
import { refusalFailure, runFailure } from './dify-failure.js';
import type { DifyIds, DifySignal, DifyUsage } from './dify-frames.js';
import type { DifyRef } from './dify-request.js';

/** More text than this is no answer. */
const MAX_TEXT_CHARS = 16 * 1024 * 1024;

export type DifyEnd =
  | { kind: 'succeeded'; output: RuntimeOutput; partial: boolean }
  | { kind: 'failed'; failure: RuntimeFailure }
  /** Dify says that it was stopped. */
  | { kind: 'stopped' };

/** Gathers one call's signals into its answer; knows when it has ended. Pure but for what it remembers. */
export class DifyAnswer {
  readonly ids: DifyIds = {};
  usage: DifyUsage | null = null;
  providerKnowledge = false;
  /** The first terminal signal decides; what comes after it is a repetition. */
  end: DifyEnd | null = null;
  /** The answer of a chatflow is whole, but its workflow has not said how it ended. */
  answerIsWhole = false;

  #text = '';
  #pieces = 0;
  #sawAgentMessage = false;
  #isChatflow = false;
  readonly #toolsSeen = new Set<string>();
  readonly #shown: ShownText;

  constructor(
    private readonly ref: DifyRef,
    private readonly contract: OutputContract,
    private readonly redactor: SecretRedactor,
  ) {
    this.#shown = new ShownText(redactor);
  }

  /** By which the call is found again: the run of a workflow app, the message of the others. */
  get providerRequestId(): string | null {
    return (this.isWorkflowApp ? this.ids.workflowRunId : this.ids.messageId) ?? null;
  }

  get isWorkflowApp(): boolean {
    return this.ref.appType === 'workflow';
  }

  /** Takes one signal in; gives what of it is worth reporting. */
  accept(signal: DifySignal): AgentRuntimeEvent[] {
    if (this.end) return [];
    switch (signal.kind) {
      case 'ids':
        Object.assign(this.ids, { ...signal.ids, ...this.ids });
        return [];
      case 'text':
        return this.#appended(signal.text, signal.from);
      case 'replace':
        this.#text = signal.text;
        return [];
      case 'thinking':
        return this.#shown.push('thinking', signal.text);
      case 'tool_call':
        if (!this.#isNew(`call ${signal.callId} ${signal.tool}`)) return [];
        return [
          {
            type: 'runtime.tool_call',
            callId: signal.callId,
            tool: signal.tool,
            args: this.redactor.redactDeep(signal.args),
          },
        ];
      case 'tool_result':
        if (!this.#isNew(`result ${signal.callId} ${signal.tool}`)) return [];
        return [
          {
            type: 'runtime.tool_result',
            callId: signal.callId,
            tool: signal.tool,
            result: this.redactor.redactDeep(signal.result),
            error: null,
          },
        ];
      case 'knowledge':
        this.providerKnowledge = true;
        return [];
      case 'usage':
        this.usage = this.usage?.promptTokens != null ? this.usage : signal.usage;
        return [];
      case 'workflow_started':
        this.#isChatflow = !this.isWorkflowApp;
        return [];
      case 'message_end':
        if (this.#isChatflow) this.answerIsWhole = true;
        else this.end = orFailed(() => this.#chatSuccess(false));
        return this.#shown.flush();
      case 'finished':
        this.end = orFailed(() => this.#finished(signal.status, signal.outputs, signal.error));
        return this.#shown.flush();
      case 'paused':
        this.end = failedEnd('provider_run_failed', 'the run waits for a person in Dify', 'paused');
        return this.#shown.flush();
      case 'error':
        this.end = {
          kind: 'failed',
          failure: this.providerRequestId ? runFailure(signal) : refusalFailure(signal),
        };
        return this.#shown.flush();
    }
  }

  /** The stream ended: a chatflow whose answer was whole may leave out how its workflow ended. */
  acceptEndOfStream(): void {
    if (!this.end && this.answerIsWhole) this.end = orFailed(() => this.#chatSuccess(false));
  }

  /** The answer as the list of messages has it, after the stream was lost. */
  acceptMessage(answer: string): void {
    this.#text = answer;
    this.end = orFailed(() => this.#chatSuccess(false));
  }

  #appended(text: string, from: 'message' | 'agent_message' | 'text_chunk'): AgentRuntimeEvent[] {
    if (text === '') return [];
    if (from === 'agent_message') this.#sawAgentMessage = true;
    if (from === 'message' && this.#repeatsAnswer(text)) {
      this.#text = text;
      return [];
    }
    this.#text += text;
    this.#pieces++;
    if (this.#text.length > MAX_TEXT_CHARS) {
      this.end = failedEnd('provider_bad_response', 'the answer passes its limit of size', 'too_large');
      return [];
    }
    return this.#shown.push('text', text);
  }

  /** The newer agent app closes with one `message` that repeats the whole answer. */
  #repeatsAnswer(text: string): boolean {
    if (this.ref.appType !== 'agent') return false;
    return this.#sawAgentMessage || (this.#pieces > 1 && text === this.#text);
  }

  #finished(status: string, outputs: JsonObject, error: string | null): DifyEnd {
    switch (status) {
      case 'succeeded':
      case 'partial-succeeded': {
        const partial = status === 'partial-succeeded';
        return this.isWorkflowApp
          ? { kind: 'succeeded', output: workflowOutput(outputs, this.contract), partial }
          : this.#chatSuccess(partial);
      }
      case 'failed':
        return { kind: 'failed', failure: runFailure({ status: null, code: 'failed', message: error }) };
      case 'stopped':
        return { kind: 'stopped' };
      case 'paused':
        return failedEnd('provider_run_failed', 'the run waits for a person in Dify', 'paused');
      default:
        return failedEnd(
          'provider_bad_response',
          `Dify ended the run with the unknown status "${status}"`,
          'status',
        );
    }
  }

  #chatSuccess(partial: boolean): DifyEnd {
    const data = structuredAnswer(this.#text, this.contract);
    return { kind: 'succeeded', output: { text: this.#text, data }, partial };
  }

  #isNew(key: string): boolean {
    if (this.#toolsSeen.has(key)) return false;
    this.#toolsSeen.add(key);
    return true;
  }
}

/** A workflow's outputs as they are, and the one text among them that reads as its answer. */
function workflowOutput(outputs: JsonObject, contract: OutputContract): RuntimeOutput {
  const texts = Object.entries(outputs).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const named = ['text', 'answer', 'result', 'output'].find((name) => typeof outputs[name] === 'string');
  const [only] = texts;
  const text = named
    ? (outputs[named] as string)
    : texts.length === 1 && only
      ? only[1]
      : JSON.stringify(outputs);
  const structured = Object.keys(outputs).length === 1 ? structuredAnswer(text, contract) : null;
  return { text, data: structured ?? outputs };
}

function failedEnd(type: RuntimeFailure['type'], message: string, code: string): DifyEnd {
  return { kind: 'failed', failure: failureOf(type, message, { code }) };
}
