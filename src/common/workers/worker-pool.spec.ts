import { WorkerLostError, WorkerPool, WorkerTimeoutError } from './index.js';
import type { TestJob } from '../../../test/support/workers/test-worker.js';
import { PATIENCE_MILLIS } from '../../../test/support/patience.js';

const module = new URL('../../../test/support/workers/test-worker.js', import.meta.url);
const patience = { timeoutMillis: PATIENCE_MILLIS };

describe('WorkerPool', () => {
  let pool: WorkerPool<TestJob, string>;

  beforeEach(() => {
    pool = new WorkerPool({ module, size: 2, resourceLimits: { maxOldGenerationSizeMb: 32 } });
  });
  afterEach(() => pool.close());

  it('answers more jobs than it has threads', async () => {
    const values = Array.from({ length: 50 }, (_, at) => `甲${at}`);
    const answers = await Promise.all(values.map((value) => pool.run({ do: 'echo', value }, patience)));
    expect(answers).toEqual(values);
  });

  it('gives the message of what a job threw, and keeps its thread', async () => {
    await expect(pool.run({ do: 'throw', message: 'no' }, patience)).rejects.toThrow('no');
    expect(await pool.run({ do: 'echo', value: 'a' }, patience)).toBe('a');
  });

  it('ends a job that takes too long, and goes on with a new thread', async () => {
    const loops = [1, 2].map(() => pool.run({ do: 'loop' }, { timeoutMillis: 50 }));
    const behind = pool.run({ do: 'echo', value: 'behind' }, patience);
    for (const loop of loops) await expect(loop).rejects.toThrow(WorkerTimeoutError);
    expect(await behind).toBe('behind');
  });

  it.each<[TestJob, RegExp]>([
    [{ do: 'exit' }, /code 3/],
    [{ do: 'hoard' }, /out of memory/],
  ])('survives a thread that dies of %j', async (job, message) => {
    const lost = pool.run(job, patience);
    await expect(lost).rejects.toThrow(message);
    await expect(lost).rejects.toThrow(WorkerLostError);
    expect(await pool.run({ do: 'echo', value: 'a' }, patience)).toBe('a');
  });

  it('gives up running and waiting jobs when their signal aborts', async () => {
    const abort = new AbortController();
    const options = { ...patience, signal: abort.signal };
    const jobs = [1, 2, 3].map(() => pool.run({ do: 'loop' }, options));
    abort.abort(new Error('cancelled'));
    for (const job of jobs) await expect(job).rejects.toThrow('cancelled');
    await expect(pool.run({ do: 'loop' }, options)).rejects.toThrow('cancelled');
    expect(await pool.run({ do: 'echo', value: 'a' }, patience)).toBe('a');
  });

  it('tells its threads nothing of the environment', async () => {
    expect(await pool.run({ do: 'environment' }, patience)).toBe('');
  });

  it('rejects what has no answer when it is closed', async () => {
    const jobs = [1, 2, 3].map(() => pool.run({ do: 'loop' }, patience));
    const ends = Promise.allSettled(jobs);
    await pool.close();
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  it('lets go of threads without work', async () => {
    const brief = new WorkerPool<TestJob, string>({ module, size: 1, idleMillis: 1 });
    await brief.run({ do: 'echo', value: 'a' }, patience);
    await expect(brief.run({ do: 'echo', value: 'b' }, patience)).resolves.toBe('b');
    await brief.close();
  });
});
