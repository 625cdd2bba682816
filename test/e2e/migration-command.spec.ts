import { execFile } from 'node:child_process';
import path from 'node:path';
import { createEmptyDatabase } from '../support/test-database.js';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** `npm run migration:…` without npm: what the command printed, and its exit code. */
function migration(args: string[], environment: Record<string, string>) {
  const { PATH = '', HOME = '' } = process.env;
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      ['scripts/migration.js', ...args],
      { cwd: ROOT, env: { PATH, HOME, LOG_LEVEL: 'warn', ...environment } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

describe('npm run migration:run', () => {
  it('brings an empty database up to date, and finds nothing to do the second time', async () => {
    const { url, drop } = await createEmptyDatabase();
    for (let time = 1; time <= 2; time += 1) {
      expect(await migration(['run'], { DATABASE_URL: url })).toEqual({
        code: 0,
        stdout: 'the database is up to date\n',
        stderr: '',
      });
    }
    await drop();
  });

  it.each<[string, string[], Record<string, string>, RegExp]>([
    [
      'a database that does not listen',
      ['run'],
      { DATABASE_URL: 'postgres://u:secret-pw@127.0.0.1:1/x' },
      /^migration:run: database-url \(DATABASE_URL\): connect ECONNREFUSED 127\.0\.0\.1:1\n$/,
    ],
    [
      'what is no address',
      ['run'],
      { DATABASE_URL: 'notaurl' },
      /^migration:run: database-url \(DATABASE_URL\): .+\n$/,
    ],
    [
      'a wrong configuration',
      ['run'],
      { HERMES_NOBODY: '1' },
      /^migration:run: the configuration is not usable:\n {2}HERMES_NOBODY: is an environment variable that overrides no known key\n$/,
    ],
    [
      'a database that does not listen, when a migration is to be written',
      ['generate', 'some-name'],
      { DATABASE_URL: 'postgres://u:secret-pw@127.0.0.1:1/x' },
      /^migration:generate: database-url \(DATABASE_URL\): connect ECONNREFUSED 127\.0\.0\.1:1\n$/,
    ],
  ])('says in one message why it failed: %s', async (_what, args, environment, message) => {
    const { code, stdout, stderr } = await migration(args, environment);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
  });
});
