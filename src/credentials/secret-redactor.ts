import type { JsonValue } from '../common/json/json-value.js';
import { orderedObject } from '../common/json/ordered-object.js';

const MASK = '[redacted]';

/** Shorter values are words of ordinary text: replacing them would destroy what they occur in. */
const SHORTEST = 6;

/** Values of one source that are still looked for after a rotation: late answers may quote the old one. */
const KEPT_PER_SOURCE = 20;

/**
 * Knows every secret value this process has handed out and takes it out of text that is about to be logged, stored
 * or shown (decision 5). Also finds the value as JSON text, URL-encoded and in base64.
 */
export class SecretRedactor {
  readonly #bySource = new Map<string, string[]>();
  #pattern: RegExp | null = null;
  #forms: readonly string[] = [];

  /** `source` names where the value comes from, such as `credentials.dify-prod`; values under 6 characters are ignored. */
  register(source: string, value: string): void {
    if (value.length < SHORTEST) return;
    const known = this.#bySource.get(source) ?? [];
    if (known.includes(value)) return;
    this.#bySource.set(source, [...known, value].slice(-KEPT_PER_SOURCE));
    this.#compile();
  }

  redact(text: string): string {
    return this.#pattern ? text.replace(this.#pattern, MASK) : text;
  }

  /** The same value with every string in it redacted, keys included. */
  redactDeep<T extends JsonValue>(value: T): T {
    return this.#pattern ? (this.#deep(value) as T) : value;
  }

  holdsSecret(text: string): boolean {
    return this.redact(text) !== text;
  }

  /** For text that comes in pieces: a secret cut by a boundary is found too. */
  stream(): StreamRedactor {
    return new StreamRedactor(
      (text) => this.redact(text),
      (text) => this.#openEnd(text),
    );
  }

  #deep(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.redact(value);
    if (Array.isArray(value)) return value.map((item) => this.#deep(item));
    if (value === null || typeof value !== 'object') return value;
    return orderedObject(
      Object.entries(value).map(([key, item]) => [this.redact(key), this.#deep(item)] as const),
    );
  }

  /** Length of the longest end of `text` that a secret could begin with. */
  #openEnd(text: string): number {
    let longest = 0;
    for (const form of this.#forms) {
      for (let length = Math.min(form.length - 1, text.length); length > longest; length--) {
        if (text.endsWith(form.slice(0, length))) longest = length;
      }
    }
    return longest;
  }

  #compile(): void {
    const forms = new Set<string>();
    for (const value of [...this.#bySource.values()].flat()) {
      forms.add(value);
      forms.add(JSON.stringify(value).slice(1, -1));
      forms.add(encodeURIComponent(Buffer.from(value).toString()));
      // Without the last characters, which depend on what follows the value in the encoded text.
      const base64 = Buffer.from(value).toString('base64').replace(/=+$/, '').slice(0, -1);
      if (base64.length >= SHORTEST) forms.add(base64);
    }
    this.#forms = [...forms].sort((a, b) => b.length - a.length);
    this.#pattern = new RegExp(this.#forms.map(escape).join('|'), 'g');
  }
}

/** Gives redacted text on, keeping back only an end that could be the beginning of a secret. */
export class StreamRedactor {
  #held = '';

  constructor(
    private readonly redact: (text: string) => string,
    private readonly openEnd: (text: string) => number,
  ) {}

  push(text: string): string {
    const whole = this.redact(this.#held + text);
    const keep = this.openEnd(whole);
    this.#held = whole.slice(whole.length - keep);
    return whole.slice(0, whole.length - keep);
  }

  /** What was kept back; call once, at the end. */
  flush(): string {
    const rest = this.#held;
    this.#held = '';
    return rest;
  }
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
