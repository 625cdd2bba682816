import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolError } from './bridge-tool.js';
import { fileTools } from './file-tools.js';
import { READ_BYTES } from './read-file.tool.js';
import { Toolbox } from './toolbox.js';
import { Workspace } from './workspace.js';
import { WRITE_BYTES } from './write-file.tool.js';

describe('the file tools', () => {
  let outside: string;
  let workspace: string;
  let toolbox: Toolbox;
  const { signal } = new AbortController();
  const call = (tool: string, args: object): Promise<unknown> => toolbox.call(tool, args, signal);
  const read = (path: string, more: object = {}): Promise<unknown> => call('read_file', { path, ...more });
  const write = (path: string, content: string): Promise<unknown> => call('write_file', { path, content });

  beforeEach(async () => {
    outside = await mkdtemp(join(tmpdir(), 'file-tools-'));
    workspace = join(outside, 'workspace');
    await mkdir(workspace);
    await writeFile(join(outside, 'secret.txt'), 'SECRET');
    toolbox = new Toolbox(fileTools(workspace), { maxCalls: 1000, secrets: [] });
  });
  afterEach(() => rm(outside, { recursive: true, force: true }));

  it('write, read and list files with Chinese names and content', async () => {
    expect(await write('资料/报告.md', '# 报告\r\n😀')).toEqual({ path: '资料/报告.md', bytes: 14 });
    await write('a.txt', '');
    expect(await read('资料/报告.md')).toEqual({ path: '资料/报告.md', bytes: 14, content: '# 报告\r\n😀' });
    expect(await call('list_files', {})).toEqual({
      entries: [
        { path: 'a.txt', type: 'file', bytes: 0 },
        { path: '资料', type: 'folder' },
        { path: '资料/报告.md', type: 'file', bytes: 14 },
      ],
    });
    expect(await call('list_files', { path: './资料/' })).toEqual({
      entries: [{ path: '资料/报告.md', type: 'file', bytes: 14 }],
    });
  });

  it('write no two names as one, and no text but the one given', async () => {
    for (const path of ['a\ud800.txt', 'a\ud801.txt']) {
      await expect(write(path, 'x')).rejects.toThrow('path contains a lone surrogate, which is no character');
    }
    await expect(write('b.txt', 'x\ud800y')).rejects.toThrow(
      'content contains a lone surrogate at character 1, which UTF-8 cannot hold',
    );
    expect(await readdir(workspace)).toEqual([]);
    await write('\u{1f600}.txt', '\u{1f600}');
    expect(await readdir(workspace)).toEqual(['\u{1f600}.txt']);
  });

  it('replace a file wholly', async () => {
    await write('a.txt', 'a long first version');
    await write('a.txt', 'short');
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('short');
  });

  it.each([
    ['..', '../secret.txt'],
    ['.. in the middle', 'a/../../secret.txt'],
    ['an absolute path', '/etc/passwd'],
    ['a drive letter', 'C:/x'],
    ['backslashes', '..\\secret.txt'],
    ['NUL', 'a\0.txt'],
    ['a control character', 'a\n.txt'],
    ['a lone surrogate', 'a\ud800.txt'],
    ['a lone surrogate in a folder', 'a\udc00/b.txt'],
    ['surrogates in the wrong order', '\ude00\ud83d.txt'],
    ['a long component', `${'汉'.repeat(86)}.txt`],
    ['a deep path', 'a/'.repeat(65) + 'x'],
  ])('refuse %s, for every tool', async (_name, path) => {
    await expect(read(path)).rejects.toThrow(ToolError);
    await expect(write(path, 'x')).rejects.toThrow(ToolError);
    if (!path.includes('汉')) await expect(call('list_files', { path })).rejects.toThrow(ToolError);
    expect(await readdir(workspace)).toEqual([]);
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe('SECRET');
  });

  it('follow no symbolic link to a file', async () => {
    await symlink(join(outside, 'secret.txt'), join(workspace, 'link.txt'));
    await expect(read('link.txt')).rejects.toThrow('is a symbolic link');
    await expect(write('link.txt', 'x')).rejects.toThrow('is a symbolic link');
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe('SECRET');
  });

  it('follow no symbolic link to a folder', async () => {
    await symlink(outside, join(workspace, 'up'));
    await expect(read('up/secret.txt')).rejects.toThrow('symbolic link');
    await expect(write('up/new.txt', 'x')).rejects.toThrow('symbolic link');
    await expect(write('up/new/new.txt', 'x')).rejects.toThrow('symbolic link');
    await expect(call('list_files', { path: 'up' })).rejects.toThrow('symbolic link');
    expect(await call('list_files', {})).toEqual({ entries: [] });
    expect((await readdir(outside)).sort()).toEqual(['secret.txt', 'workspace']);
  });

  it('create nothing behind a dangling link', async () => {
    await symlink(join(outside, 'made.txt'), join(workspace, 'dangling'));
    await expect(write('dangling', 'x')).rejects.toThrow('is a symbolic link');
    expect(await readdir(outside)).not.toContain('made.txt');
  });

  it('accept a workspace that itself lies behind a link', async () => {
    await symlink(workspace, join(outside, 'alias'));
    toolbox = new Toolbox(fileTools(join(outside, 'alias')), { maxCalls: 10, secrets: [] });
    await write('a.txt', 'x');
    expect(await read('a.txt')).toMatchObject({ content: 'x' });
  });

  it('touch nothing when a folder becomes a link between the look and the opening', async () => {
    await mkdir(join(workspace, 'sub'));
    await writeFile(join(workspace, 'sub', 'secret.txt'), 'inside');
    const opened = await Workspace.at(workspace);
    let escaped = 0;
    for (let round = 0; round < 200; round += 1) {
      const swap = (async (): Promise<void> => {
        await rename(join(workspace, 'sub'), join(workspace, 'real'));
        await symlink(outside, join(workspace, 'sub'));
        await rm(join(workspace, 'sub'));
        await rename(join(workspace, 'real'), join(workspace, 'sub'));
      })();
      const handle = await opened.openToRead('sub/secret.txt').catch(() => null);
      if (handle) {
        if ((await handle.readFile('utf8')) !== 'inside') escaped += 1;
        await handle.close();
      }
      await swap;
    }
    expect(escaped).toBe(0);
  });

  it('read no folders, pipes or devices, and do not hang on them', async () => {
    await mkdir(join(workspace, 'folder'));
    execFileSync('mkfifo', [join(workspace, 'pipe')]);
    await expect(read('folder')).rejects.toThrow(/is not a file|is a folder/);
    await expect(read('pipe')).rejects.toThrow('is not a file');
    await expect(write('pipe', 'x')).rejects.toThrow('is not a file');
    await expect(write('folder', 'x')).rejects.toThrow('is a folder');
  });

  it('put no file where a folder is needed, and say so without absolute paths', async () => {
    await write('a', 'x');
    await expect(write('a/b.txt', 'x')).rejects.toThrow('a is not a folder');
    await expect(read('none.txt')).rejects.toThrow(/^none.txt does not exist$/);
  });

  it.each([
    ['NUL bytes', Buffer.from([0x50, 0x4b, 0x03, 0x04, 0x00])],
    ['bytes that are no UTF-8', Buffer.from([0xc3, 0x28, 0xff])],
    ['a character cut off at the end', Buffer.from([0x41, 0xe6, 0xb1])],
  ])('tell that a file with %s is binary', async (_name, bytes) => {
    await writeFile(join(workspace, 'x.bin'), bytes);
    expect(await read('x.bin')).toEqual({ path: 'x.bin', bytes: bytes.length, binary: true, content: null });
  });

  it('hand over long files in parts that fit together, cut at characters', async () => {
    const text = `x${'汉'.repeat(READ_BYTES / 2)}`;
    await writeFile(join(workspace, 'long.txt'), text);
    let gathered = '';
    let offset: number | undefined = 0;
    for (let parts = 0; offset !== undefined && parts < 10; parts += 1) {
      const part = (await read('long.txt', { offset })) as { content: string; nextOffset?: number };
      gathered += part.content;
      offset = part.nextOffset;
    }
    expect(gathered === text).toBe(true);
  });

  it('start at the next character when an offset lies within one', async () => {
    await writeFile(join(workspace, 'a.txt'), '汉字');
    expect(await read('a.txt', { offset: 1 })).toMatchObject({ content: '字' });
    expect(await read('a.txt', { offset: 99 })).toMatchObject({ content: '' });
  });

  it('write no file over the limit', async () => {
    await expect(write('big.txt', 'x'.repeat(WRITE_BYTES + 1))).rejects.toThrow('larger than');
    expect(await readdir(workspace)).toEqual([]);
  });

  it('list at most a thousand entries and say that there are more', async () => {
    await Promise.all(Array.from({ length: 1001 }, (_, at) => writeFile(join(workspace, `${at}.txt`), '')));
    const listed = (await call('list_files', {})) as { entries: unknown[]; truncated?: boolean };
    expect([listed.entries.length, listed.truncated]).toEqual([1000, true]);
  });

  it('make the workspace where no upload has made it', async () => {
    toolbox = new Toolbox(fileTools(join(outside, 'all', 'run')), { maxCalls: 10, secrets: [] });
    expect(await call('list_files', {})).toEqual({ entries: [] });
    await write('a.txt', 'x');
    expect(await readFile(join(outside, 'all', 'run', 'a.txt'), 'utf8')).toBe('x');
  });

  it('say that the workspace cannot be had', async () => {
    toolbox = new Toolbox(fileTools(join(outside, 'secret.txt')), { maxCalls: 10, secrets: [] });
    await expect(read('a.txt')).rejects.toThrow('the workspace cannot be opened (EEXIST)');
  });

  it('check their arguments', async () => {
    await expect(call('read_file', {})).rejects.toThrow('wrong arguments');
    await expect(call('write_file', { path: 'a', content: 5 })).rejects.toThrow('wrong arguments');
  });
});
