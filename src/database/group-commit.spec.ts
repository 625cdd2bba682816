import { GroupCommit, type MemberOutcome } from './group-commit.js';

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
const allOk = (batch: readonly unknown[]): MemberOutcome<void>[] =>
  batch.map(() => ({ ok: true, value: undefined }));

describe('GroupCommit', () => {
  it('gathers what arrives during a commit into the next one, in order', async () => {
    const batches: number[][] = [];
    const first = deferred();
    const group = new GroupCommit<number>(
      async (batch) => {
        batches.push([...batch]);
        if (batches.length === 1) await first.promise;
        return allOk(batch);
      },
      { maxBatch: 10, isFatal: () => false },
    );
    const one = group.submit(1);
    await Promise.resolve().then(() => undefined);
    const rest = [group.submit(2), group.submit(3)];
    first.resolve();
    await Promise.all([one, ...rest]);
    expect(batches).toEqual([[1], [2, 3]]);
  });

  it('tries the members of a failed commit one by one, so that one bad member fails alone', async () => {
    const group = new GroupCommit<string>(
      async (batch) => {
        await Promise.resolve();
        if (batch.includes('bad')) throw new Error('bad row');
        return allOk(batch);
      },
      { maxBatch: 10, isFatal: () => false },
    );
    const results = await Promise.allSettled(['a', 'bad', 'b'].map((member) => group.submit(member)));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('fails every member at once when the connection is lost', async () => {
    let commits = 0;
    const group = new GroupCommit<number>(
      () => {
        commits += 1;
        return Promise.reject(new Error('connection lost'));
      },
      { maxBatch: 10, isFatal: () => true },
    );
    const results = await Promise.allSettled([group.submit(1), group.submit(2)]);
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    expect(commits).toBe(1);
  });

  it('never puts more into a commit than maxBatch', async () => {
    const sizes: number[] = [];
    const group = new GroupCommit<number>(
      (batch) => {
        sizes.push(batch.length);
        return Promise.resolve(allOk(batch));
      },
      { maxBatch: 2, isFatal: () => false },
    );
    await Promise.all([1, 2, 3, 4, 5].map((member) => group.submit(member)));
    await group.idle();
    expect(sizes).toEqual([2, 2, 1]);
  });

  it('keeps many writers in two groups, so that one prepares while the other is committed', async () => {
    const sizes: number[] = [];
    const group = new GroupCommit<number>(
      async (batch) => {
        sizes.push(batch.length);
        await new Promise((resolve) => setImmediate(resolve));
        return allOk(batch);
      },
      { maxBatch: 512, isFatal: () => false },
    );
    const write = async (): Promise<void> => {
      for (let at = 0; at < 20; at += 1) await group.submit(at);
    };
    await Promise.all(Array.from({ length: 64 }, write));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(64 * 20);
    const steady = sizes.slice(4, 36);
    expect([Math.min(...steady), Math.max(...steady)]).toEqual([32, 32]);
  });
});
