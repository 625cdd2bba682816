import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

const SCRIPT = path.resolve(import.meta.dirname, 'python-bridge.py');

export interface PythonBridge {
  readonly url: string;
  /** What it wrote to standard error. */
  errors(): string;
  stop(): Promise<void>;
}

export function hasPython(): boolean {
  return spawnSync('python3', ['--version']).status === 0;
}

/** A bridge in Python, as somebody else would run it (`hermes.bridge.mode: external`). */
export async function startPythonBridge(secret: string): Promise<PythonBridge> {
  const child = spawn('python3', [SCRIPT], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      BRIDGE_SECRET: secret,
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const closed = once(child, 'close');
  const announced = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const [line] = await Promise.race([
    announced,
    closed.then(() => Promise.reject(new Error(`the Python bridge ended: ${errors}`))),
  ]);
  const { port } = JSON.parse(line) as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    errors: () => errors,
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
    },
  };
}
