import type { LanguageModelMiddleware } from 'ai';
import { readAnswer } from '../../common/json/read-answer.js';
import { JsonTextError } from '../../common/json/read-json.js';
import { RunFailure } from '../run-failure.js';

/**
 * The SDK parses the arguments of tool calls with `JSON.parse`, which rounds big integers; here they are read before
 * it, and numbers that would be changed become texts of their digits (decision 4). Throws RunFailure for arguments that
 * are nested too deep; what the SDK itself refuses is left to it: it tells the model.
 */
export const unchangedToolInput: LanguageModelMiddleware = {
  specificationVersion: 'v3',
  wrapStream: async ({ doStream }) => {
    const { stream, ...rest } = await doStream();
    const unchanged = stream.pipeThrough(
      new TransformStream<StreamPart, StreamPart>({
        transform: (part, controller) => {
          controller.enqueue(part.type === 'tool-call' ? { ...part, input: inputOf(part) } : part);
        },
      }),
    );
    return { stream: unchanged, ...rest };
  },
};

type Stream = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapStream']>>>['stream'];
type StreamPart = Stream extends ReadableStream<infer Part> ? Part : never;

function inputOf({ toolName, input }: { toolName: string; input: string }): string {
  try {
    const value = readAnswer(input);
    return value === undefined ? input : JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    if (error.kind !== 'depth') return input;
    throw new RunFailure(
      'provider_bad_response',
      error.saidOf(`the model's call of ${toolName.slice(0, 100)}`),
    );
  }
}
