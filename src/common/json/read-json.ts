import { numberProblem } from './json-number.js';
import type { JsonValue } from './json-value.js';
import { parseOrdered } from './parse-ordered.js';
import { pathAt } from './path-at.js';
import { scanJson } from './scan-json.js';

/** Deepest nesting of JSON that providers, tools, services and code answer; writing it out again is recursive. */
export const MAX_ANSWER_DEPTH = 100;

export interface JsonRules {
  /** Deepest nesting of arrays and objects. */
  maxDepth: number;
  /**
   * What happens to a number that would be changed (see `numberProblem`): what callers and authors write is refused;
   * what services and models answer keeps its digits as a text, so that an id with 19 digits stays one.
   */
  unsafeNumbers: 'refuse' | 'text';
}

/** Thrown when a JSON text is not taken. The message repeats nothing of the text but keys and the number at fault. */
export class JsonTextError extends Error {
  constructor(
    /** `syntax`: it is no JSON at all. */
    readonly kind: 'syntax' | 'depth' | 'number' | 'key',
    /** What is wrong, said of the whole text ("is nested deeper than …"); of a number: what is wrong with it. */
    readonly problem: string,
    /** Dotted path of a number at fault; empty for one that is the whole text. */
    readonly path = '',
    /** The number at fault as the text writes it; empty for other faults. */
    readonly literal = '',
  ) {
    super(path === '' ? problem : `${path}: ${problem}`);
    this.name = 'JsonTextError';
  }

  /** A sentence about `what`: the body, the answer. */
  saidOf(what: string): string {
    return this.kind === 'number'
      ? `${what} cannot be taken as it is: ${this.message}`
      : `${what} ${this.problem}`;
  }
}

/**
 * `JSON.parse` for texts from outside. Throws a JsonTextError for what `JSON.parse` refuses, and for what it would take
 * but change, or that is dangerous: numbers that would be changed, nesting beyond `maxDepth`, the key `__proto__`. Keys
 * keep their order, those of digits too.
 */
export function readJson(text: string, { maxDepth, unsafeNumbers }: JsonRules): JsonValue {
  const edits: { from: number; to: number }[] = [];
  scanJson(text, {
    open: (depth) => {
      if (depth > maxDepth) throw new JsonTextError('depth', `is nested deeper than ${maxDepth} levels`);
    },
    number: (from, to) => {
      // Most numbers are short; only an exponent makes a short one large.
      if (to - from < 16 && !/[eE]/.test(text.slice(from, to))) return;
      const problem = numberProblem(text.slice(from, to));
      if (problem === null) return;
      if (unsafeNumbers === 'refuse') {
        throw new JsonTextError('number', problem, pathAt(text, from), text.slice(from, to));
      }
      edits.push({ from, to });
    },
  });
  const value = parse(edits.length === 0 ? text : quoted(text, edits));
  if (/__proto__|\\u00[57]/i.test(text)) refuseProto(value);
  return value;
}

function quoted(text: string, edits: readonly { from: number; to: number }[]): string {
  const parts: string[] = [];
  let done = 0;
  for (const { from, to } of edits) {
    parts.push(text.slice(done, from), '"', text.slice(from, to), '"');
    done = to;
  }
  return parts.join('') + text.slice(done);
}

function parse(text: string): JsonValue {
  try {
    return parseOrdered(text);
  } catch (error) {
    // Only the position is told: V8's message repeats the text, which may hold a secret.
    const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
    const where = position === undefined ? '' : ` (at character ${position})`;
    throw new JsonTextError('syntax', `is not valid JSON${where}`);
  }
}

function refuseProto(root: JsonValue): void {
  const pending: JsonValue[] = [root];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) {
      throw new JsonTextError('key', 'has a key __proto__, which is not allowed');
    }
    for (const inner of Object.values(value)) pending.push(inner);
  }
}
