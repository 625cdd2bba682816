/** What the sandbox needs of WebAssembly; Node's types leave it to those of browsers. */
declare namespace WebAssembly {
  interface Module {
    /** Only WebAssembly makes one. */
    readonly __module: never;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
  class Memory {
    constructor(options: { initial: number; maximum: number });
    readonly buffer: ArrayBuffer;
  }
  class RuntimeError extends Error {}
}
