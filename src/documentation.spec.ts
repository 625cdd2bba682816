import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

const READMES = ['README.md', 'README.zh-CN.md'];
const DOCS = readdirSync(path.join(ROOT, 'docs'))
  .filter((file) => file.endsWith('.md'))
  .map((file) => `docs/${file}`);
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

/** The anchor that a heading gets. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[`*]/g, '')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

describe.each(READMES)('%s', (readme) => {
  const text = read(readme);

  it.each(DOCS)('links to %s', (page) => expect(text).toContain(`](${page})`));

  it('tells what every command does', () => {
    const shorter = new Set(['start', 'test']);
    const commands = Object.keys(scripts).map((name) =>
      shorter.has(name) ? `npm ${name}` : `npm run ${name}`,
    );
    const told = [...text.matchAll(/`(npm (?:run )?[a-z:]+)(?: -- NAME)?`/g)].map(([, command]) => command);
    expect([...new Set(told)].sort()).toEqual(commands.sort());
  });
});

describe('the links', () => {
  it.each([...READMES, ...DOCS])('of %s lead somewhere', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
    const broken = links.filter(([, file = '', anchor]) => {
      const target = file === '' ? page : path.join(path.dirname(page), file);
      if (!existsSync(path.join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});
