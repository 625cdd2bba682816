import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { takeOverFiles } from './take-over-files.js';

describe('takeOverFiles', () => {
  let root: string;
  let child: string;
  let parent: string;
  beforeEach(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'take-over-'));
    child = path.join(root, 'child');
    parent = path.join(root, 'parent');
    await mkdir(path.join(child, '.outputs/s-1'), { recursive: true });
    await mkdir(parent);
    await writeFile(path.join(child, '.outputs/out-1.json'), '"large"');
    await writeFile(path.join(child, '.outputs/s-1/out-1.json'), '"deeper"');
    await writeFile(path.join(root, 'secret.json'), '"secret"');
    await symlink(path.join(root, 'secret.json'), path.join(child, '.outputs/link-1.json'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const take = (outputs: Parameters<typeof takeOverFiles>[0]) =>
    takeOverFiles(outputs, child, { workspaceDir: parent, folder: 'call-2' });

  it('copies what the outputs name, wherever they name it, and says where it lies', async () => {
    const outputs = {
      _outputFile: '.outputs/out-1.json',
      _bytes: 7,
      '2': [{ a: { _outputFile: '.outputs/s-1/out-1.json', _bytes: 8 } }],
      '1': { _outputFile: '.outputs/out-1.json', _bytes: 7 },
    };
    expect(await take(outputs)).toEqual({
      _outputFile: '.outputs/call-2/out-1.json',
      _bytes: 7,
      '2': [{ a: { _outputFile: '.outputs/call-2/s-1/out-1.json', _bytes: 8 } }],
      '1': { _outputFile: '.outputs/call-2/out-1.json', _bytes: 7 },
    });
    expect(await readFile(path.join(parent, '.outputs/call-2/out-1.json'), 'utf8')).toBe('"large"');
    expect(await readFile(path.join(parent, '.outputs/call-2/s-1/out-1.json'), 'utf8')).toBe('"deeper"');
  });

  it.each([
    '../secret.json',
    '.outputs/../../secret.json',
    '.outputs/link-1.json',
    '.outputs/gone-1.json',
    'a.json',
  ])('leaves the name %s as it is', async (name) => {
    const outputs = { a: { _outputFile: name, _bytes: 1 } };
    expect(await take(outputs)).toBe(outputs);
  });
});
