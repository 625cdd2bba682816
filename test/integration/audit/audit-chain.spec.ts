import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AnchorAfterCommit } from '../../../src/audit/anchor-after-commit.js';
import { AnchorFile } from '../../../src/audit/anchor-file.js';
import type { AuditEntry } from '../../../src/audit/audit-entry.js';
import { AuditLog } from '../../../src/audit/audit-log.js';
import { AuditTrail } from '../../../src/audit/audit-trail.js';
import { VerifyAuditChain } from '../../../src/audit/verify-audit-chain.js';
import { SecretRedactor } from '../../../src/credentials/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

const CANARY = 'canary-9f2c-never-shown';

let database: TestDatabase;
let folder: string;
let log: AuditLog;
let verify: VerifyAuditChain;
let trail: AuditTrail;

beforeEach(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'audit-'));
  const anchors = new AnchorFile(folder);
  const fail = (error: unknown): never => {
    throw error;
  };
  database.dataSource.subscribers.push(new AnchorAfterCommit(anchors, fail));
  const redactor = new SecretRedactor();
  redactor.register('credentials.canary', CANARY);
  log = new AuditLog(redactor);
  verify = new VerifyAuditChain(database.dataSource, anchors);
  trail = new AuditTrail(database.dataSource);
});

afterEach(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

function entry(id: string, more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    actor: { kind: 'admin-key', name: 'ci' },
    action: 'agent.published',
    subject: { type: 'agent', id },
    correlationId: 'c-1',
    before: { status: 'DRAFT' },
    after: { status: 'PUBLISHED', at: '2026-01-01T00:00:00.000Z', name: '写手 \u0000 \ud800' },
    ...more,
  };
}

const append = (one: AuditEntry): Promise<void> =>
  database.dataSource.transaction((manager) => log.append(manager, one));

async function appendMany(count: number): Promise<void> {
  for (let index = 1; index <= count; index += 1) await append(entry(`agent-${index}`));
}

/** What only a superuser, or the owner of the tables, can do. */
async function behindTheTriggers(...statements: string[]): Promise<void> {
  for (const table of ['audit_logs', 'audit_head']) {
    await database.dataSource.query(`ALTER TABLE ${table} DISABLE TRIGGER ALL`);
  }
  for (const statement of statements) await database.dataSource.query(statement);
  for (const table of ['audit_logs', 'audit_head']) {
    await database.dataSource.query(`ALTER TABLE ${table} ENABLE TRIGGER ALL`);
  }
}

describe('the audit chain', () => {
  it('is valid when empty and after appends, which read back as they were', async () => {
    await expect(verify.execute()).resolves.toMatchObject({ valid: true, checked: 0, firstBroken: null });
    await appendMany(3);
    await expect(verify.execute()).resolves.toEqual({
      valid: true,
      checked: 3,
      firstBroken: null,
      problem: null,
      anchoredUpTo: 3,
    });
    const [newest, ...older] = await trail.list({}, 10);
    expect(newest).toMatchObject({
      seq: 3,
      action: 'agent.published',
      subject: { type: 'agent', id: 'agent-3' },
      after: { name: '写手 \u0000 \ud800' },
    });
    expect(newest?.prevHash).toBe(older[0]?.hash);
  });

  it('leaves nothing behind when the transaction is rolled back', async () => {
    await appendMany(1);
    const failing = database.dataSource.transaction(async (manager) => {
      await log.append(manager, entry('undone'));
      throw new Error('undo');
    });
    await expect(failing).rejects.toThrow('undo');
    await append(entry('after'));
    await expect(verify.execute()).resolves.toMatchObject({ valid: true, checked: 2 });
  });

  it('anchors nothing of a savepoint that was rolled back', async () => {
    await database.dataSource.transaction(async (manager) => {
      await log.append(manager, entry('kept'));
      await manager
        .transaction(async (nested) => {
          await log.append(nested, entry('undone'));
          throw new Error('undo');
        })
        .catch(() => undefined);
    });
    await append(entry('after'));
    await expect(verify.execute()).resolves.toMatchObject({ valid: true, checked: 2 });
  });

  it('refuses to append outside a transaction', async () => {
    await expect(log.append(database.dataSource.manager, entry('x'))).rejects.toThrow('transaction');
  });

  it('puts concurrent appends in one order', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, index) => append(entry(`agent-${index}`))));
    await expect(verify.execute()).resolves.toMatchObject({ valid: true, checked: 20 });
  });

  it('stores no secret: neither known values nor what stands under a secret name', async () => {
    await append(
      entry('a', {
        reason: `because of ${CANARY}`,
        before: { apiKey: 'sk-literal', note: `x ${CANARY} y` },
        after: { [CANARY]: [{ password: 'hunter2' }] },
      }),
    );
    const rows: unknown = await database.dataSource.query(`SELECT * FROM audit_logs`);
    const text = JSON.stringify(rows);
    for (const secret of [CANARY, 'sk-literal', 'hunter2']) expect(text).not.toContain(secret);
    await expect(verify.execute()).resolves.toMatchObject({ valid: true, checked: 1 });
  });

  it.each([
    ['UPDATE', `UPDATE audit_logs SET action = 'x'`],
    ['UPDATE of no row', `UPDATE audit_logs SET action = 'x' WHERE false`],
    ['DELETE', `DELETE FROM audit_logs WHERE seq = 1`],
    ['TRUNCATE', `TRUNCATE audit_logs`],
    ['DELETE of the head', `DELETE FROM audit_head`],
    ['TRUNCATE of the head', `TRUNCATE audit_head`],
    ['a second head', `INSERT INTO audit_head VALUES (false, gen_random_uuid(), 0, '')`],
    ['setting the head back', `UPDATE audit_head SET seq = 0`],
  ])('refuses %s', async (_name, statement) => {
    await appendMany(2);
    await expect(database.dataSource.query(statement)).rejects.toMatchObject({ code: '42501' });
    await expect(verify.execute()).resolves.toMatchObject({ valid: true, checked: 2 });
  });

  it('refuses changes also where session_replication_role is replica', async () => {
    await appendMany(1);
    const changing = database.dataSource.transaction(async (manager) => {
      await manager.query(`SET LOCAL session_replication_role = replica`);
      await manager.query(`DELETE FROM audit_logs`);
    });
    await expect(changing).rejects.toMatchObject({ code: '42501' });
  });
});

describe('tampering behind the triggers', () => {
  beforeEach(() => appendMany(5));

  it.each(['action', 'subject_id', 'subject_type', 'prev_hash', 'hash'])(
    'sees a changed %s',
    async (column) => {
      await behindTheTriggers(`UPDATE audit_logs SET ${column} = 'forged' WHERE seq = 3`);
      await expect(verify.execute()).resolves.toMatchObject({ valid: false, firstBroken: 3 });
    },
  );

  it.each(['actor', 'after', 'before', 'correlation_id', 'reason'])('sees a changed %s', async (column) => {
    await behindTheTriggers(`UPDATE audit_logs SET ${column} = '{"name":"forged"}' WHERE seq = 2`);
    await expect(verify.execute()).resolves.toMatchObject({ valid: false, firstBroken: 2 });
  });

  it('sees a changed time', async () => {
    await behindTheTriggers(`UPDATE audit_logs SET at = at + interval '1 ms' WHERE seq = 4`);
    await expect(verify.execute()).resolves.toMatchObject({ valid: false, firstBroken: 4 });
  });

  it('names the first of several', async () => {
    await behindTheTriggers(
      `UPDATE audit_logs SET action = 'forged' WHERE seq = 5`,
      `UPDATE audit_logs SET action = 'forged' WHERE seq = 2`,
    );
    await expect(verify.execute()).resolves.toMatchObject({ valid: false, firstBroken: 2 });
  });

  it('sees a removed entry', async () => {
    await behindTheTriggers(`DELETE FROM audit_logs WHERE seq = 3`);
    await expect(verify.execute()).resolves.toMatchObject({ valid: false, firstBroken: 3 });
  });

  it('sees a removed beginning', async () => {
    await behindTheTriggers(`DELETE FROM audit_logs WHERE seq = 1`);
    await expect(verify.execute()).resolves.toMatchObject({ valid: false, firstBroken: 1 });
  });

  it('sees a cut tail', async () => {
    await behindTheTriggers(`DELETE FROM audit_logs WHERE seq >= 4`);
    await expect(verify.execute()).resolves.toMatchObject({ valid: false, firstBroken: 4 });
  });

  it('sees a cut tail whose head was set back with it, by the anchor outside the database', async () => {
    await behindTheTriggers(
      `DELETE FROM audit_logs WHERE seq >= 4`,
      `UPDATE audit_head SET seq = 3, hash = (SELECT hash FROM audit_logs WHERE seq = 3)`,
    );
    await expect(verify.execute()).resolves.toMatchObject({ valid: false, firstBroken: 4 });
  });

  it('still sees it after the chain has grown past the cut', async () => {
    await behindTheTriggers(
      `DELETE FROM audit_logs WHERE seq >= 4`,
      `UPDATE audit_head SET seq = 3, hash = (SELECT hash FROM audit_logs WHERE seq = 3)`,
    );
    await appendMany(4);
    await expect(verify.execute()).resolves.toMatchObject({ valid: false, firstBroken: 4 });
  });

  it('sees an emptied chain', async () => {
    await behindTheTriggers(`TRUNCATE audit_logs`);
    await expect(verify.execute()).resolves.toMatchObject({ valid: false, checked: 0, firstBroken: 1 });
  });

  it.each([0, -7])('sees an entry that was added before the first, as number %i', async (seq) => {
    await database.dataSource.query(
      `INSERT INTO audit_logs SELECT $1, at, actor, 'agent.forged', subject_type, subject_id, correlation_id, reason,
              before, after, prev_hash, hash FROM audit_logs WHERE seq = 1`,
      [seq],
    );
    await expect(verify.execute()).resolves.toMatchObject({ valid: false, firstBroken: seq });
  });

  it('sees what was added to an actor', async () => {
    await behindTheTriggers(
      `UPDATE audit_logs SET actor = '{"kind":"admin-key","name":"ci","onBehalfOf":"somebody"}' WHERE seq = 3`,
    );
    await expect(verify.execute()).resolves.toMatchObject({ valid: false, firstBroken: 3 });
  });

  it.each([
    ['a time that is none', `at = 'infinity'`],
    ['values nested deeper than can be read', `after = (repeat('[', 5000) || repeat(']', 5000))::json`],
  ])('names an entry with %s, and still lists it', async (_what, change) => {
    await behindTheTriggers(`UPDATE audit_logs SET ${change} WHERE seq = 2`);
    await expect(verify.execute()).resolves.toMatchObject({ valid: false, firstBroken: 2 });
    await expect(trail.list({}, 10)).resolves.toHaveLength(5);
  });

  it('sees an entry that was added past the head', async () => {
    await database.dataSource.query(
      `INSERT INTO audit_logs SELECT 6, at, actor, action, subject_type, subject_id, correlation_id, reason, before,
              after, hash, 'x' FROM audit_logs WHERE seq = 5`,
    );
    await expect(verify.execute()).resolves.toMatchObject({ valid: false, firstBroken: 6 });
  });
});

describe('the audit trail', () => {
  it('filters and pages by number, newest first', async () => {
    await appendMany(3);
    await append(entry('b', { action: 'slot.bound', subject: { type: 'slot', id: 's' } }));
    const page = await trail.list({ action: 'agent.published' }, 2);
    expect(page.map(({ seq }) => seq)).toEqual([3, 2]);
    const rest = await trail.list({ action: 'agent.published', before: 2 }, 2);
    expect(rest.map(({ seq }) => seq)).toEqual([1]);
    await expect(trail.list({ subjectType: 'slot', actor: 'ci' }, 5)).resolves.toHaveLength(1);
    await expect(trail.list({ actor: 'nobody' }, 5)).resolves.toEqual([]);
    await expect(trail.list({ to: new Date(0) }, 5)).resolves.toEqual([]);
  });
});
