import { endOfString } from './scan-json.js';

interface Container {
  /** The key whose value is being read, or the index in an array. */
  at: string | number;
  /** In an object: the next string is a key. */
  expectsKey: boolean;
}

/** Only as much of a key as an error message needs. */
const LONGEST_KEY = 100;

/**
 * Where in a JSON text the value at `offset` stands: `variables.items.3.id`, or an empty string for the whole text.
 * The text up to there should be valid; where it is not, the answer is as good as can be.
 */
export function pathAt(text: string, offset: number): string {
  const stack: Container[] = [];
  for (let at = 0; at < offset; at += 1) {
    const char = text[at];
    const top = stack.at(-1);
    if (char === '"') {
      const end = endOfString(text, at + 1);
      if (top?.expectsKey) {
        top.at = unescaped(text.slice(at, end + 1)).slice(0, LONGEST_KEY);
        top.expectsKey = false;
      }
      at = end;
    } else if (char === '{') stack.push({ at: '', expectsKey: true });
    else if (char === '[') stack.push({ at: 0, expectsKey: false });
    else if (char === '}' || char === ']') stack.pop();
    else if (char === ',' && top) {
      if (typeof top.at === 'number') top.at += 1;
      else top.expectsKey = true;
    }
  }
  return stack.map(({ at }) => String(at)).join('.');
}

function unescaped(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}
