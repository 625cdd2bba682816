import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { ApiApp } from '../../support/external-api/api-app.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { agent, chain, input, output } from '../engine/graphs.js';

const run = promisify(execFile);
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) process.stderr.write('python3 is not installed: the Python snippet is not tested\n');
const withPython = hasPython ? it : it.skip;
const PROJECT = path.resolve(import.meta.dirname, '../../..');

describe('the snippets of docs/external-api.md', () => {
  let database: TestDatabase;
  let api: ApiApp;
  let folder: string;
  let documentation: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    api = await ApiApp.start(database);
    folder = await mkdtemp(path.join(tmpdir(), 'snippets-'));
    documentation = await readFile(path.join(PROJECT, 'docs/external-api.md'), 'utf8');
    await api.test.workflow(
      chain(
        input({ name: 'topic', type: 'string' }, { name: 'document', type: 'file' }),
        agent('write'),
        output({ summary: '{{ write.text }}' }),
      ),
      { name: 'report-pipeline' },
    );
    for (const name of ['examples', 'node_modules']) {
      await symlink(path.join(PROJECT, name), path.join(folder, name));
    }
    await writeFile(path.join(folder, 'package.json'), '{"type":"module"}');
  });
  afterAll(async () => {
    await api.close();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });

  const snippet = (language: string): string =>
    new RegExp(`<!-- snippet: ${language} -->\n\`\`\`\\w+\n([^]*?)\n\`\`\``).exec(documentation)?.[1] ?? '';
  const works = async (command: string, ...args: string[]): Promise<void> => {
    const { stdout } = await run(command, args, { cwd: folder, env: { ...process.env, BASE: api.url } });
    expect(stdout).toContain('workflow_complete');
    expect(stdout).toContain('write done');
    expect(stdout).toContain('资料/调研.md');
  };

  it('work in TypeScript', async () => {
    await writeFile(path.join(folder, 'snippet.ts'), snippet('typescript'));
    const tsc = path.join(PROJECT, 'node_modules/typescript/bin/tsc');
    const options = [
      '--strict',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--skipLibCheck',
      '--types',
      'node',
    ];
    await run(process.execPath, [tsc, ...options, '--lib', 'es2022,dom,dom.asynciterable', 'snippet.ts'], {
      cwd: folder,
    });
    await works(process.execPath, 'snippet.js');
  });

  withPython('work in Python', async () => {
    await writeFile(path.join(folder, 'snippet.py'), snippet('python'));
    await works('python3', 'snippet.py');
  });
});
