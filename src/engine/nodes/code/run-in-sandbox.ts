import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import quickJsBuild from '@jitl/quickjs-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import { JsonTextError, MAX_ANSWER_DEPTH, readJson } from '../../../common/json/read-json.js';
import type { SandboxAnswer, SandboxFailure, SandboxJob } from './sandbox-job.js';
import { SANDBOX_PRELUDE } from './sandbox-prelude.js';

const PAGE_BYTES = 65_536;
/** Pages that QuickJS's own build wants to begin with; what the code uses comes on top. */
const FIRST_PAGES = 256;
const STACK_BYTES = 256 * 1024;
const FILE = 'code';
const MAX_MESSAGE = 2_000;

/** The package's types are those of its CommonJS twin. */
const releaseSync = quickJsBuild as unknown as QuickJSSyncVariant;
const wasmFile = createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm');
const wasmModule = WebAssembly.compile(await readFile(wasmFile));

/**
 * Runs code in a QuickJS of its own: a fresh instance and a fresh memory for each job, so that nothing of one is
 * left for the next, and no host function at all, so that there is nothing to reach. QuickJS does not count small
 * allocations, so the memory's own maximum is what limits it.
 */
export async function runInSandbox(job: SandboxJob): Promise<SandboxAnswer> {
  const maximum = FIRST_PAGES + Math.ceil(job.memoryBytes / PAGE_BYTES);
  const wasmMemory = new WebAssembly.Memory({ initial: FIRST_PAGES, maximum });
  const variant = newVariant(releaseSync, { wasmModule: await wasmModule, wasmMemory });
  const quickJs = await newQuickJSWASMModuleFromVariant(variant);
  const deadline = performance.now() + job.timeoutMillis;
  const runtime = quickJs.newRuntime();
  let late = false;
  runtime.setMemoryLimit(job.memoryBytes);
  runtime.setMaxStackSize(STACK_BYTES);
  runtime.setInterruptHandler(() => (late ||= performance.now() > deadline));
  // Never disposed: an instance that has run out of memory cannot be, and it is dropped as a whole anyway.
  const context = runtime.newContext();
  const isFull = (): boolean => wasmMemory.buffer.byteLength >= (maximum - FIRST_PAGES / 4) * PAGE_BYTES;
  return new Sandbox(context, job, { isLate: () => late, isFull }).run();
}

/** Thrown inside the sandbox's host side only, to end a job with its failure. */
class SandboxError extends Error {
  constructor(
    readonly reason: SandboxFailure,
    message: string,
    readonly line: number | null = null,
  ) {
    super(message);
  }
}

class Sandbox {
  #host: QuickJSHandle | null = null;

  constructor(
    private readonly context: QuickJSContext,
    private readonly job: SandboxJob,
    private readonly limits: { isLate(): boolean; isFull(): boolean },
  ) {}

  run(): SandboxAnswer {
    try {
      const json = this.#evaluate();
      return { kind: 'returned', json, console: this.#console() };
    } catch (error) {
      const { reason, message, line } = this.#failureOf(error);
      return {
        kind: 'failed',
        reason,
        message: message.slice(0, MAX_MESSAGE),
        line,
        console: this.#console(),
      };
    }
  }

  #evaluate(): string {
    const { context, job } = this;
    const prelude = this.#result(context.evalCode(SANDBOX_PRELUDE, 'prelude'));
    this.#host = this.#call(prelude, context.newNumber(job.now), context.newString(job.seed));
    const inputs = this.#callHost('parse', context.newString(job.inputs));
    const code = this.#result(context.evalCode(`(function (inputs) {${job.code}\n})`, FILE));
    const returned = this.#settled(this.#call(code, inputs));
    const text = this.#callHost('stringify', returned);
    if (context.typeof(text) !== 'string') {
      throw new SandboxError(
        'thrown',
        `the code returned a ${context.typeof(returned)}, which JSON cannot hold`,
      );
    }
    const json = context.getString(text);
    // A promise's reaction that was interrupted leaves no trace but this.
    if (this.limits.isLate()) throw this.#timeError();
    const unwritable = context.getString(this.#callHost('unwritable'));
    const problem =
      unwritable === ''
        ? resultProblem(json, job.outputBytes)
        : `the result ${unwritable}, which JSON cannot hold`;
    if (problem) throw new SandboxError('output', problem);
    return json;
  }

  /** A promise's value; nothing outside can settle it, so it is settled once no job of the sandbox is left. */
  #settled(returned: QuickJSHandle): QuickJSHandle {
    const { context } = this;
    this.#result(context.runtime.executePendingJobs());
    const state = context.getPromiseState(returned);
    switch (state.type) {
      case 'fulfilled':
        return state.value;
      case 'rejected':
        throw this.#thrown(state.error);
      case 'pending':
        throw new SandboxError('thrown', 'the code returned a promise that nothing ever settles');
    }
  }

  #callHost(name: string, argument?: QuickJSHandle): QuickJSHandle {
    if (!this.#host) throw new SandboxError('memory', this.#memoryMessage());
    return this.#call(this.context.getProp(this.#host, name), ...(argument ? [argument] : []));
  }

  #call(callee: QuickJSHandle, ...args: QuickJSHandle[]): QuickJSHandle {
    return this.#result(this.context.callFunction(callee, this.context.undefined, ...args));
  }

  #result<T>(result: { error?: QuickJSHandle; value?: T }): T {
    if (result.error) throw this.#thrown(result.error);
    return result.value as T;
  }

  #thrown(error: QuickJSHandle): SandboxError {
    if (this.limits.isLate()) return this.#timeError();
    const described = this.context.callFunction(
      this.context.getProp(this.#host ?? this.context.undefined, 'describe'),
      this.context.undefined,
      error,
    );
    if (described.error) return this.limits.isLate() ? this.#timeError() : this.#memoryError();
    const { name, message, stack } = JSON.parse(this.context.getString(described.value)) as Described;
    if (name === 'InternalError' && message === 'out of memory') return this.#memoryError();
    // Where not even the error could be made, null is thrown.
    if (message === 'null' && this.limits.isFull()) return this.#memoryError();
    const text = name === '' || name === 'Error' ? message : `${name}: ${message}`;
    return new SandboxError('thrown', text || 'the code threw something without a message', lineIn(stack));
  }

  #failureOf(error: unknown): SandboxError {
    if (error instanceof SandboxError) return error;
    if (this.limits.isLate()) return this.#timeError();
    // QuickJS recurses in native code, whose stack is this thread's.
    if (error instanceof RangeError) return new SandboxError('thrown', 'the code nests too deep');
    if (this.limits.isFull() || error instanceof WebAssembly.RuntimeError) return this.#memoryError();
    throw error;
  }

  #timeError(): SandboxError {
    return new SandboxError('time', `the code ran longer than ${this.job.timeoutMillis / 1000} s`);
  }

  #memoryError(): SandboxError {
    return new SandboxError('memory', this.#memoryMessage());
  }

  #memoryMessage(): string {
    return `the code used more than ${Math.floor(this.job.memoryBytes / 1024 ** 2)} MB of memory`;
  }

  #console(): string[] {
    try {
      return JSON.parse(this.context.getString(this.#callHost('lines'))) as string[];
    } catch {
      // Out of time or memory: what was printed is lost, how the code ended is not.
      return [];
    }
  }
}

/** Why a result cannot leave the sandbox, or null when it can. */
function resultProblem(json: string, maxBytes: number): string | null {
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes) return `the result has ${bytes} bytes, more than ${maxBytes}`;
  try {
    readJson(json, { maxDepth: MAX_ANSWER_DEPTH, unsafeNumbers: 'refuse' });
    return null;
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    if (error.kind !== 'number') return error.saidOf('the result');
    const { path, literal } = error;
    const what = path === '' ? `is ${literal}` : `holds ${literal} at ${path}`;
    return `the result ${what}, an integer outside ±(2^53−1) that may have been rounded; return it as a string`;
  }
}

interface Described {
  name: string;
  message: string;
  stack: string;
}

/** The line of the first frame of a QuickJS stack that lies in the code: `at f (code:3:7)`. */
function lineIn(stack: string): number | null {
  const line = new RegExp(`\\b${FILE}:(\\d+)`).exec(stack)?.[1];
  return line === undefined ? null : Number(line);
}
