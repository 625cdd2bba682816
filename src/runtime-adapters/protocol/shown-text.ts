import type { SecretRedactor, StreamRedactor } from '../../credentials/index.js';
import type { AgentRuntimeEvent } from './agent-runtime-event.js';

type Channel = 'text' | 'thinking';

/** Turns the pieces of an answer into delta events, without a secret even where a boundary cuts one. */
export class ShownText {
  readonly #streams: Record<Channel, StreamRedactor>;

  constructor(redactor: SecretRedactor) {
    this.#streams = { text: redactor.stream(), thinking: redactor.stream() };
  }

  push(channel: Channel, text: string): AgentRuntimeEvent[] {
    return deltas(channel, this.#streams[channel].push(text));
  }

  /** What was kept back; once, at the end. */
  flush(): AgentRuntimeEvent[] {
    return (['thinking', 'text'] as const).flatMap((channel) =>
      deltas(channel, this.#streams[channel].flush()),
    );
  }
}

function deltas(channel: Channel, text: string): AgentRuntimeEvent[] {
  return text === '' ? [] : [{ type: 'runtime.delta', channel, text }];
}
