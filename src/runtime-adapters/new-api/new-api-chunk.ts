import { isObject } from './new-api-failure.js';

/** A chunk that every OpenAI-compatible reader understands; all else that a channel adds is left out. */
export interface CleanChunk {
  id?: string;
  model?: string;
  choices: CleanChoice[];
  usage?: CleanUsage;
}

export interface CleanChoice {
  index: number;
  delta: { content?: string; reasoning_content?: string; refusal?: string; tool_calls?: CleanToolCall[] };
  finish_reason: string | null;
}

interface CleanToolCall {
  index: number;
  id?: string;
  type: 'function';
  function: { name?: string; arguments?: string };
}

export interface CleanUsage {
  prompt_tokens: number | null;
  completion_tokens: number | null;
  total_tokens: number | null;
}

/**
 * Makes a channel's chunk safe to read: `choices` may be missing, `null` or empty, contents `null`, reasoning under
 * two names. A whole completion (a channel that cannot stream) becomes one chunk. Null where it is no chunk at all.
 */
export function cleanChunk(value: unknown): CleanChunk | null {
  if (!isObject(value)) return null;
  const usage = usageIn(value.usage);
  const choices = Array.isArray(value.choices) ? value.choices.filter(isObject).map(cleanChoice) : [];
  if (!('choices' in value) && !usage) return null;
  return {
    ...(typeof value.id === 'string' ? { id: value.id } : {}),
    ...(typeof value.model === 'string' ? { model: value.model } : {}),
    choices,
    ...(usage ? { usage } : {}),
  };
}

function cleanChoice(choice: Record<string, unknown>): CleanChoice {
  const said = isObject(choice.delta) ? choice.delta : isObject(choice.message) ? choice.message : {};
  const reasoning = text(said.reasoning_content) ?? text(said.reasoning);
  const calls = Array.isArray(said.tool_calls) ? said.tool_calls.filter(isObject).map(cleanToolCall) : [];
  const content = contentOf(said.content);
  const refusal = text(said.refusal);
  return {
    index: typeof choice.index === 'number' ? choice.index : 0,
    delta: {
      ...(content === undefined ? {} : { content }),
      ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
      ...(refusal === undefined ? {} : { refusal }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
    finish_reason: text(choice.finish_reason) ?? null,
  };
}

function cleanToolCall(call: Record<string, unknown>, position: number): CleanToolCall {
  const { name, arguments: args } = isObject(call.function) ? call.function : {};
  const id = text(call.id);
  const called = text(name);
  return {
    index: typeof call.index === 'number' ? call.index : position,
    ...(id === undefined ? {} : { id }),
    type: 'function',
    function: {
      ...(called === undefined ? {} : { name: called }),
      ...(typeof args === 'string'
        ? { arguments: args }
        : isObject(args)
          ? { arguments: JSON.stringify(args) }
          : {}),
    },
  };
}

/** A text, or the texts of a list of parts. */
function contentOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  return content
    .filter(isObject)
    .map((part) => text(part.text) ?? '')
    .join('');
}

function usageIn(usage: unknown): CleanUsage | null {
  if (!isObject(usage)) return null;
  return {
    prompt_tokens: count(usage.prompt_tokens),
    completion_tokens: count(usage.completion_tokens),
    total_tokens: count(usage.total_tokens),
  };
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
