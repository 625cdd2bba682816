import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PROJECT = path.resolve(import.meta.dirname, '../../..');

const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: 'nodenext',
    strict: true,
    skipLibCheck: true,
    types: ['node'],
    outDir: 'out',
  },
  include: ['program.ts', 'client'],
};

const GENERATE = `import { createClient } from '@hey-api/openapi-ts';
await createClient({
  input: './openapi.json',
  output: { path: 'client', tsConfigPath: './tsconfig.json', importFileExtension: '.js' },
  plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
  logs: { level: 'error' },
});`;

/** A TypeScript client that is generated from an OpenAPI document, and a program written against it. */
export class GeneratedClient {
  private constructor(private readonly folder: string) {}

  /** Generates the client into `./client` beside the program, which is compiled under strict rules. */
  static async build(document: object, program: string): Promise<GeneratedClient> {
    const client = new GeneratedClient(await mkdtemp(path.join(tmpdir(), 'client-')));
    try {
      await client.#compile(document, program);
      return client;
    } catch (error) {
      await client.remove();
      throw error;
    }
  }

  /** What the program prints, as JSON. */
  async run(...args: string[]): Promise<unknown> {
    const { stdout } = await this.#node('out/program.js', ...args);
    return JSON.parse(stdout);
  }

  /** A file of the generated client. */
  source(file: string): Promise<string> {
    return readFile(path.join(this.folder, 'client', file), 'utf8');
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }

  async #compile(document: object, program: string): Promise<void> {
    await symlink(path.join(PROJECT, 'node_modules'), path.join(this.folder, 'node_modules'));
    await this.#write('package.json', '{"type":"module"}');
    await this.#write('openapi.json', JSON.stringify(document));
    await this.#write('program.ts', program);
    await this.#write('tsconfig.json', JSON.stringify(TSCONFIG));
    await this.#write('generate.mjs', GENERATE);
    await this.#node('generate.mjs');
    const tsc = path.join(PROJECT, 'node_modules/typescript/bin/tsc');
    const compiled = await this.#node(tsc, '-p', '.').catch((error: unknown) => error as { stdout: string });
    if (compiled.stdout !== '') throw new Error(`the program does not compile:\n${compiled.stdout}`);
  }

  #write(name: string, content: string): Promise<void> {
    return writeFile(path.join(this.folder, name), content);
  }

  #node(file: string, ...args: string[]): Promise<{ stdout: string }> {
    return run(process.execPath, [file, ...args], { cwd: this.folder, maxBuffer: 10_000_000 });
  }
}
