import type { ServerResponse } from 'node:http';

/** One frame of a chat completion's stream, as OpenAI-compatible endpoints send it. */
export function chunk(delta: object, more: { finish?: string } = {}): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: more.finish ?? null }],
  };
}

export const usageChunk = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [],
  usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
};

/** The bytes of a whole stream, `[DONE]` included. */
export function streamOf(frames: readonly object[]): string {
  return [...frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`), 'data: [DONE]\n\n'].join('');
}

export function sendStream(response: ServerResponse, frames: readonly object[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(streamOf(frames));
}

/** A tool call whose name and arguments come in pieces. */
export function toolCallInPieces(id: string, name: string, args: string): object[] {
  const call = (part: object): object => chunk({ tool_calls: [{ index: 0, ...part }] });
  const middle = Math.floor(args.length / 2);
  return [
    call({ id, type: 'function', function: { name, arguments: '' } }),
    call({ function: { arguments: args.slice(0, middle) } }),
    call({ function: { arguments: args.slice(middle) } }),
    chunk({}, { finish: 'tool_calls' }),
  ];
}
