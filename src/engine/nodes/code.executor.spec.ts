import { nodeVisit } from '../../../test/factories/node-visit.js';
import type { JsonObject, JsonValue } from '../../common/json/json-value.js';
import { CodeExecutor } from './code.executor.js';
import { CodeSandbox } from './code/code-sandbox.js';
import { NodeFailure } from './node-failure.js';

const MIB = 1024 ** 2;

describe('code', () => {
  const sandbox = new CodeSandbox({ threads: 2 });
  const executor = new CodeExecutor(sandbox);
  const hasty = new CodeSandbox({ threads: 1, timeoutMillis: 500 });
  afterAll(() => Promise.all([sandbox.close(), hasty.close()]));

  async function run(
    code: string,
    inputs: JsonObject = {},
    scope: Record<string, JsonValue> = {},
    by = executor,
  ) {
    const visit = nodeVisit('code', { code, inputs }, { scope });
    const result = await by.execute(visit, new AbortController().signal);
    return result.kind === 'completed' ? result.data : null;
  }

  async function failure(code: string, by = executor): Promise<[string, string]> {
    const error: unknown = await run(code, {}, {}, by).then(
      (data) => new Error(`it gave ${JSON.stringify(data)}`),
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof NodeFailure)) throw error;
    expect(error.retryable).toBe(false);
    return [error.code, error.message];
  }

  it.each<[string, JsonObject]>([
    ['return { a: 1, b: [true, null] }', { a: 1, b: [true, null] }],
    ['return 7', { result: 7 }],
    ['return [1, 2]', { result: [1, 2] }],
    ['return "量子\\u0000"', { result: '量子\u0000' }],
    ['', { result: null }],
    ['return null', { result: null }],
    [
      'return { n: [9007199254740991, 6.02214076e23, 0.1, -0.5] }',
      { n: [9007199254740991, 6.02214076e23, 0.1, -0.5] },
    ],
    ['return { id: String(9007199254740993n) }', { id: '9007199254740993' }],
    ['return (async () => { await null; return { late: true }; })()', { late: true }],
    [
      'return [typeof require, typeof process, typeof fetch, typeof setTimeout]',
      { result: Array(4).fill('undefined') as string[] },
    ],
    ['// ends in a comment', { result: null }],
    [
      'JSON.stringify = () => "{}"; JSON.parse = null; Array.prototype.push = null; return { ok: 1 }',
      { ok: 1 },
    ],
    ['const s = "\\"__proto__\\":"; return s', { result: '"__proto__":' }],
  ])('%s', async (code, expected) => {
    expect(await run(code)).toEqual(expected);
  });

  it('renders its inputs; a lone reference keeps its type', async () => {
    const scope = { in: { list: [3, 4], name: '甲' } };
    const inputs = {
      list: '{{ in.list }}',
      text: '{{ in.name }}!',
      deep: [{ n: '{{ in.list[0] }}' }],
      plain: 1,
    };
    expect(await run('return inputs', inputs, scope)).toEqual({
      list: [3, 4],
      text: '甲!',
      deep: [{ n: 3 }],
      plain: 1,
    });
  });

  it('gives the same for the same visit, and leaves its inputs alone', async () => {
    const scope = { in: { list: [1] } };
    const code =
      'inputs.list.push(2); return { r: [Math.random(), Math.random()], d: new Date() - Date.now() }';
    const first = await run(code, { list: '{{ in.list }}' }, scope);
    expect(await run(code, { list: '{{ in.list }}' }, scope)).toEqual(first);
    expect(first?.d).toBe(0);
    expect(new Set(first?.r as number[]).size).toBe(2);
    expect(scope).toEqual({ in: { list: [1] } });
  });

  it.each([
    ['throw new Error("no such thing")', 'no such thing'],
    ['\nthrow new TypeError("bad")', 'TypeError: bad'],
    ['throw "a text"', 'a text'],
    ['throw { code: 5 }', '{"code":5}'],
    ['return Promise.reject(new Error("late"))', 'late'],
    ['return new Promise(() => {})', 'the code returned a promise that nothing ever settles'],
    ['return () => 1', 'the code returned a function, which JSON cannot hold'],
    ['return 10n', 'TypeError: Do not know how to serialize a BigInt'],
    ['const o = {}; o.o = o; return o', 'TypeError: circular reference'],
    ['const f = () => f(); f()', 'InternalError: stack overflow'],
    ['return import("fs")', "ReferenceError: could not load module 'fs'"],
  ])('fails with what %s says', async (code, message) => {
    expect(await failure(code)).toEqual(['CODE_ERROR', message]);
  });

  it('fails where its value nests without end', async () => {
    const [code, message] = await failure('let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o');
    expect(code).toBe('CODE_ERROR');
    expect(message).toMatch(/nests too deep|stack overflow/);
  });

  it.each([
    'for (;;);',
    'while (true) { try { for (;;); } catch {} }',
    'return /(a+)+$/.test("a".repeat(40) + "b")',
    'return { toJSON() { for (;;); } }',
    'Promise.resolve().then(() => { for (;;); }); return 1',
    'throw Object.defineProperty(new Error("x"), "message", { get() { for (;;); } })',
  ])('ends %s', async (code) => {
    const failed = await failure(code, new CodeExecutor(hasty));
    expect(failed).toEqual(['CODE_TIMEOUT', 'the code ran longer than 0.5 s']);
  });

  it.each([
    'const a = []; for (;;) a.push(new Array(1000).fill(7))',
    'const a = []; for (;;) a.push({})',
    'let s = "x".repeat(1e6); const a = []; for (;;) a.push(s + a.length)',
    'return new ArrayBuffer(2 ** 31 - 1)',
  ])('ends the memory bomb %s', async (code) => {
    const before = process.memoryUsage().rss;
    expect(await failure(code)).toEqual(['CODE_MEMORY', 'the code used more than 64 MB of memory']);
    expect(process.memoryUsage().rss - before).toBeLessThan(500 * MIB);
  });

  it.each([
    ['return "量".repeat(4e6)', 'the result has 12000002 bytes, more than 10485760'],
    ['return { ["__proto__"]: { a: 1 } }', 'the result has a key __proto__, which is not allowed'],
    [
      'let o = {}; for (let i = 0; i < 200; i++) o = { o }; return o',
      'the result is nested deeper than 100 levels',
    ],
    ['return 1e400', 'the result is Infinity, which JSON cannot hold'],
    ['return { a: [1, { b: -1e400 }] }', 'the result holds -Infinity at a.1.b, which JSON cannot hold'],
    [
      'const o = { x: 1 }; return { o, list: [o, o, 0 / 0] }',
      'the result holds NaN at list.2, which JSON cannot hold',
    ],
    [
      'return { ids: [9007199254740993] }',
      'the result holds 9007199254740992 at ids.0, an integer outside ±(2^53−1) that may have been rounded; return it as a string',
    ],
    [
      'return -1e20',
      'the result is -100000000000000000000, an integer outside ±(2^53−1) that may have been rounded; return it as a string',
    ],
  ])('refuses the result of %s', async (code, message) => {
    expect(await failure(code)).toEqual(['CODE_OUTPUT', message]);
  });

  it('logs at which line it failed', async () => {
    const visit = nodeVisit('code', { code: 'const a = 1;\n\nthrow new Error("x")' });
    await expect(executor.execute(visit, new AbortController().signal)).rejects.toThrow(/^x$/);
    expect(visit.logged).toEqual([{ type: 'info', message: 'it failed at line 3 of the code' }]);
  });

  it('logs what the code prints, within limits', async () => {
    const visit = nodeVisit('code', {
      code: 'console.log("a", { b: 1 }, undefined); for (let i = 0; i < 500; i++) console.error("x".repeat(5000)); throw 1',
    });
    await expect(executor.execute(visit, new AbortController().signal)).rejects.toThrow('1');
    expect(visit.logged[0]).toEqual({ type: 'info', message: 'a {"b":1} undefined' });
    expect(visit.logged).toHaveLength(100);
    expect(visit.logged[1]).toEqual({ type: 'info', message: 'x'.repeat(1000) });
  });

  it('keeps to the node’s own timeout, and stops when it is told to', async () => {
    const slow = nodeVisit('code', { code: 'for (;;);' }, { timeoutSeconds: 0.2 });
    await expect(executor.execute(slow, new AbortController().signal)).rejects.toThrow('longer than 0.2 s');
    const abort = new AbortController();
    const runs = [1, 2, 3].map(() =>
      executor.execute(nodeVisit('code', { code: 'for (;;);' }), abort.signal),
    );
    abort.abort(new Error('cancelled'));
    for (const one of runs) await expect(one).rejects.toThrow('cancelled');
  });

  it('leaves nothing of one run to the next', async () => {
    await run('globalThis.left = 1; Object.prototype.left = 2; return 1');
    expect(await run('return [typeof left, typeof {}.left]')).toEqual({ result: ['undefined', 'undefined'] });
  });

  it('refuses inputs without bounds', async () => {
    const big = 'x'.repeat(6 * MIB);
    await expect(run('return 1', { a: '{{ n.t }}', b: '{{ n.t }}' }, { n: { t: big } })).rejects.toThrow(
      /more than 10485760 bytes/,
    );
  });
});
