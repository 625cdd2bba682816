import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ERROR_STATUS } from './error-status.js';

/** Nothing answers it yet: contract.md has it for candidates. */
const NOT_EMITTED = ['UNPROCESSABLE'];

/** Statuses of requests that HTTP itself refuses; they share a code. */
const REFUSED_HEADS = [408, 417, 431];

/** `[code, status]` of the rows of the tables that begin with a status. */
function codesOf(page: string): [string, number][] {
  const text = readFileSync(path.resolve(import.meta.dirname, '../../../docs', page), 'utf8');
  return text
    .split('\n')
    .filter((line) => /^\| \d{3}/.test(line))
    .flatMap((line) => {
      const [, statuses = '', codes = ''] = line.split('|');
      const numbers = [...statuses.matchAll(/\d{3}/g)].map(([status]) => Number(status));
      if (String(numbers) === String(REFUSED_HEADS)) {
        return numbers.map((status): [string, number] => [codes.replaceAll(/[`\s]/g, ''), status]);
      }
      return [...codes.matchAll(/`([A-Z_]+)`/g)].map(([, code = ''], at): [string, number] => [
        code,
        numbers[at] ?? numbers[0] ?? 0,
      ]);
    });
}

describe('the codes of errors', () => {
  const external = codesOf('external-api.md');
  const admin = codesOf('admin-api.md');

  it('stand in the docs with their statuses', () => {
    expect(external.length).toBeGreaterThan(10);
    for (const [code, status] of [...external, ...admin]) {
      if (REFUSED_HEADS.includes(status)) expect([code, status]).toEqual(['VALIDATION_FAILED', status]);
      else expect([code, status]).toEqual([code, ERROR_STATUS[code as keyof typeof ERROR_STATUS]]);
    }
  });

  it('stand all in the docs', () => {
    const told = new Set([...external, ...admin].map(([code]) => code));
    const missing = Object.keys(ERROR_STATUS).filter((code) => !told.has(code));
    expect(missing).toEqual(NOT_EMITTED);
  });
});
