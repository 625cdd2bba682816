/** Lines a code node may print, and characters of each. */
const MAX_LINES = 100;
const MAX_LINE_CHARACTERS = 1_000;

/**
 * Evaluated in the sandbox before the code. Makes it deterministic (`Date` stands still, `Math.random` follows from
 * the seed), gives it a `console`, and keeps for the host the built-ins that the code may overwrite. Gives the
 * host's functions as an object.
 */
export const SANDBOX_PRELUDE = `(function (now, seed) {
  'use strict';
  const { parse, stringify } = JSON;
  const { construct, apply } = Reflect;
  const { charCodeAt, slice } = String.prototype;
  const { push } = Array.prototype;
  const { imul } = Math;
  const RealDate = Date;
  const text = String;
  const { isFinite } = Number;
  const { create } = Object;
  const RealError = Error;

  function FrozenDate(...args) {
    if (!new.target) return new RealDate(now).toString();
    return construct(RealDate, args.length === 0 ? [now] : args, new.target);
  }
  Object.defineProperties(FrozenDate, {
    name: { value: 'Date' },
    length: { value: 7 },
    prototype: { value: RealDate.prototype },
    now: { value: () => now, writable: true, configurable: true },
    parse: { value: RealDate.parse, writable: true, configurable: true },
    UTC: { value: RealDate.UTC, writable: true, configurable: true },
  });
  RealDate.prototype.constructor = FrozenDate;
  globalThis.Date = FrozenDate;

  // Mulberry32 over an FNV-1a hash of the seed.
  let state = 0x811c9dc5;
  for (let at = 0; at < seed.length; at += 1) state = imul(state ^ apply(charCodeAt, seed, [at]), 0x01000193);
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
  };

  const lines = [];
  const shown = (value) => {
    if (typeof value === 'string') return value;
    if (value instanceof RealError) return text(value);
    try {
      return stringify(value) ?? text(value);
    } catch {
      return text(value);
    }
  };
  const print = (...values) => {
    if (lines.length >= ${MAX_LINES}) return;
    let line = '';
    for (let at = 0; at < values.length; at += 1) line += (at === 0 ? '' : ' ') + shown(values[at]);
    apply(push, lines, [apply(slice, line, [0, ${MAX_LINE_CHARACTERS}])]);
  };
  globalThis.console = { log: print, info: print, warn: print, error: print, debug: print };

  // JSON makes null of numbers that are none; the first one is told, with its path. No arrays: the code may have
  // changed what assigning to one does.
  let unwritable = '';
  const written = (value) => {
    const holders = create(null);
    const keys = create(null);
    let depth = 0;
    return stringify(value, function (key, item) {
      while (depth > 0 && holders[depth] !== this) depth -= 1;
      if (depth === 0) holders[(depth = 1)] = this;
      keys[depth] = key;
      if (typeof item === 'number' && !isFinite(item) && unwritable === '') {
        let path = '';
        for (let at = 2; at <= depth; at += 1) path += (at === 2 ? '' : '.') + keys[at];
        unwritable = depth === 1 ? 'is ' + item : 'holds ' + item + ' at ' + apply(slice, path, [0, ${MAX_LINE_CHARACTERS}]);
      }
      if (typeof item === 'object' && item !== null) holders[(depth += 1)] = item;
      return item;
    });
  };

  return {
    parse,
    stringify: (value) => written(value === undefined ? null : value),
    unwritable: () => unwritable,
    lines: () => stringify(lines),
    describe: (thrown) => {
      if (thrown instanceof RealError) {
        const { name, message, stack } = thrown;
        return stringify({ name: text(name), message: text(message), stack: text(stack) });
      }
      return stringify({ name: '', message: shown(thrown), stack: '' });
    },
  };
})`;
