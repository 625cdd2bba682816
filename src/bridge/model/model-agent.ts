import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  extractReasoningMiddleware,
  Output,
  stepCountIs,
  streamText,
  tool,
  wrapLanguageModel,
  type LanguageModel,
  type LanguageModelUsage,
  type ToolSet,
} from 'ai';
import type { Agent, AgentAnswer, AgentVisit } from '../agent.js';
import type { BridgeSettings } from '../bridge-settings.js';
import { RunFailure } from '../run-failure.js';
import type { Toolbox } from '../tools/toolbox.js';
import { ToolError } from '../tools/bridge-tool.js';
import { UPDATE_TODO } from '../tools/update-todo.tool.js';
import { guardedFetch } from './guarded-fetch.js';
import { modelFailure } from './model-failure.js';
import { unchangedToolInput } from './unchanged-tool-input.js';

/** Rounds of model call and tool results; the toolbox refuses calls long before a model gets here. */
const MAX_STEPS = 100;

/**
 * The agent loop for any OpenAI-compatible endpoint: the model is asked, its tool calls are carried out, and so
 * on until it answers without one. Nothing is retried here; the engine knows whether a node may be tried again.
 */
export function modelAgent(llm: NonNullable<BridgeSettings['llm']>): Agent {
  const provider = createOpenAICompatible({
    name: 'hermes',
    baseURL: llm.baseUrl,
    ...(llm.apiKey ? { apiKey: llm.apiKey } : {}),
    includeUsage: true,
    fetch: guardedFetch,
  });
  return async (visit) => {
    const model = wrapLanguageModel({
      model: provider(visit.request.model),
      // Some gateways put the reasoning into the text.
      middleware: [extractReasoningMiddleware({ tagName: 'think' }), unchangedToolInput],
    });
    try {
      return await converse(visit, model);
    } catch (error) {
      visit.signal.throwIfAborted();
      throw modelFailure(error);
    }
  };
}

async function converse(visit: AgentVisit, model: LanguageModel): Promise<AgentAnswer> {
  const { request, toolbox, signal } = visit;
  const stream = streamText({
    model,
    system: systemPrompt(visit) || undefined,
    prompt: request.prompt,
    tools: toolSet(toolbox, signal),
    stopWhen: stepCountIs(MAX_STEPS),
    maxRetries: 0,
    abortSignal: signal,
    ...(request.output_schema ? { output: Output.json() } : {}),
    // Errors come as parts of the stream; the default would print them.
    onError: () => undefined,
  });
  return relay(visit, stream.fullStream);
}

type Part = ReturnType<typeof streamText<ToolSet>>['fullStream'] extends AsyncIterable<infer P> ? P : never;

/** Turns the parts of the stream into events and gathers the last step's text: that is the answer. */
async function relay(visit: AgentVisit, parts: AsyncIterable<Part>): Promise<AgentAnswer> {
  const { emit, signal } = visit;
  let text = '';
  for await (const part of parts) {
    switch (part.type) {
      case 'start-step':
        text = '';
        break;
      case 'text-delta':
        text += part.text;
        await emit({ event: 'text', data: { text: part.text } });
        break;
      case 'reasoning-delta':
        await emit({ event: 'thinking', data: { text: part.text } });
        break;
      case 'tool-call':
        await emit({
          event: 'tool_call',
          data: { call_id: part.toolCallId, tool: part.toolName, args: part.input ?? {} },
        });
        break;
      case 'tool-result':
        await emit({
          event: 'tool_result',
          data: { call_id: part.toolCallId, tool: part.toolName, result: part.output ?? null, error: null },
        });
        await reportTodos(part, emit);
        break;
      case 'tool-error':
        await emit({
          event: 'tool_result',
          data: {
            call_id: part.toolCallId,
            tool: part.toolName,
            result: null,
            error: toolErrorText(part.error),
          },
        });
        break;
      case 'error':
        throw part.error;
      case 'abort':
        signal.throwIfAborted();
        break;
      case 'finish':
        await emit({ event: 'usage', data: usageOf(part.totalUsage) });
        return { text, data: null, finishReason: finishReasonOf(part.finishReason, text) };
      default:
        break;
    }
  }
  signal.throwIfAborted();
  throw new RunFailure('provider_bad_response', 'the model gave no answer');
}

function systemPrompt({ request }: AgentVisit): string {
  if (!request.output_schema) return request.instructions;
  const format = `Answer with one JSON object only, without any text around it, that satisfies this JSON Schema:\n${JSON.stringify(request.output_schema)}`;
  return request.instructions ? `${request.instructions}\n\n${format}` : format;
}

function toolSet(toolbox: Toolbox, signal: AbortSignal): ToolSet {
  return Object.fromEntries(
    toolbox.tools.map(({ name, description, parameters }) => [
      name,
      tool({
        description,
        inputSchema: parameters,
        execute: (args: unknown) => toolbox.call(name, args, signal),
      }),
    ]),
  );
}

async function reportTodos(
  { toolName, input }: { toolName: string; input: unknown },
  emit: AgentVisit['emit'],
): Promise<void> {
  if (toolName !== UPDATE_TODO) return;
  await emit({ event: 'todo_update', data: { todos: (input as { todos: unknown[] }).todos } });
}

/** What may be shown of a failed tool call: our own refusals, and the SDK's about a call that made no sense. */
function toolErrorText(error: unknown): string {
  if (error instanceof ToolError) return error.message;
  const name = error instanceof Error ? error.name : '';
  if (name === 'AI_NoSuchToolError' || name === 'AI_InvalidToolInputError') {
    return (error as Error).message.slice(0, 1000);
  }
  return 'the tool failed';
}

function usageOf(usage: LanguageModelUsage): {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
} {
  const prompt_tokens = usage.inputTokens ?? 0;
  const completion_tokens = usage.outputTokens ?? 0;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: usage.totalTokens ?? prompt_tokens + completion_tokens,
  };
}

function finishReasonOf(reason: string, text: string): 'stop' | 'length' {
  switch (reason) {
    case 'stop':
      return 'stop';
    case 'length':
      return 'length';
    case 'content-filter':
      throw new RunFailure('provider_run_failed', "the provider's content filter stopped the answer");
    case 'tool-calls':
      throw new RunFailure('provider_run_failed', `the model still called tools after ${MAX_STEPS} rounds`);
    default:
      // Gateways invent reasons of their own; with text there is an answer all the same.
      if (text !== '' && reason !== 'error') return 'stop';
      throw new RunFailure('provider_bad_response', `the model stopped without an answer (${reason})`);
  }
}
