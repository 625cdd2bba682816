const QUOTE = 34;
const BACKSLASH = 92;

export interface JsonTokens {
  /** An array or object begins; `depth` counts from 1. */
  open?(depth: number): void;
  /** A number stands at `from` up to `to`, its sign included. */
  number?(from: number, to: number): void;
  /** A key begins at `from`, behind its quote. */
  key?(from: number): void;
}

/** Walks over a JSON text once, without recursion. The text need not be valid: parsing it is another step. */
export function scanJson(text: string, tokens: JsonTokens): void {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = endOfString(text, at + 1);
      if (tokens.key && isKey(text, end + 1)) tokens.key(at + 1);
      at = end;
    } else if (char === 91 || char === 123) {
      depth += 1;
      tokens.open?.(depth);
    } else if (char === 93 || char === 125) {
      depth -= 1;
    } else if (char >= 48 && char <= 57) {
      const end = endOfNumber(text, at);
      tokens.number?.(at > 0 && text[at - 1] === '-' ? at - 1 : at, end);
      at = end - 1;
    }
  }
}

/** Where the string that begins before `from` has its closing quote; the text's length where it has none. */
export function endOfString(text: string, from: number): number {
  for (let at = from; ;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let backslashes = 0;
    while (quote - backslashes > from && text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) {
      backslashes += 1;
    }
    if (backslashes % 2 === 0) return quote;
    at = quote + 1;
  }
}

/** What follows a string tells whether it is a key. */
function isKey(text: string, from: number): boolean {
  let at = from;
  while (/[ \t\r\n]/.test(text.charAt(at))) at += 1;
  return text.charAt(at) === ':';
}

function endOfNumber(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    const part = (char >= 48 && char <= 57) || char === 46 || char === 69 || char === 101;
    const sign = (char === 43 || char === 45) && /[eE]/.test(text.charAt(at - 1));
    if (!part && !sign) break;
  }
  return at;
}
