import { CallUpkeep } from './call-upkeep.js';

interface Pass {
  job: string;
  signal: AbortSignal | null;
  end: (error?: Error) => void;
}

function upkeep() {
  const passes: Pass[] = [];
  const begun: ((pass: Pass) => void)[] = [];
  const errors: unknown[] = [];
  let stopped = 0;
  const idle = [Promise.resolve()];
  const job = (name: string) => ({
    execute: (signal: AbortSignal | null = null) =>
      new Promise<number>((resolve, reject) => {
        const end: Pass['end'] = (error) => (error ? reject(error) : resolve(0));
        const pass = { job: name, signal, end };
        passes.push(pass);
        begun.shift()?.(pass);
      }),
  });
  const jobs = {
    settleOrphans: { ...job('settleOrphans'), idle: () => idle[0] },
    forgetOutputs: job('forgetOutputs'),
    reconcile: job('reconcile'),
    owners: { stop: () => void (stopped += 1) },
  };
  const next = (): Promise<Pass> => new Promise((resolve) => begun.push(resolve));
  const subject = new CallUpkeep(jobs as never, (error) => errors.push(error));
  return { subject, passes, next, errors, idle, stops: () => stopped };
}

describe('CallUpkeep', () => {
  it('settles orphans as soon as it starts', async () => {
    const { subject, next, stops } = upkeep();
    const first = next();
    subject.start();
    const pass = await first;
    expect(pass.job).toBe('settleOrphans');
    pass.end();
    await subject.stop();
    expect(stops()).toBe(1);
  });

  it('stops only when the pass under way has ended, which is told to end', async () => {
    const { subject, next, errors } = upkeep();
    const first = next();
    subject.start();
    const pass = await first;
    let isStopped = false;
    const stopping = subject.stop().then(() => (isStopped = true));
    expect(pass.signal?.aborted).toBe(true);
    await Promise.resolve();
    expect(isStopped).toBe(false);
    pass.end(new Error('told to end'));
    await stopping;
    // What ends because the server stops is no failure.
    expect(errors).toEqual([]);
  });

  it('waits for what its passes have left under way', async () => {
    const { subject, next, idle, stops } = upkeep();
    const first = next();
    subject.start();
    (await first).end();
    let becomeIdle = (): void => undefined;
    idle[0] = new Promise<void>((resolve) => (becomeIdle = resolve));
    const stopping = subject.stop();
    await new Promise((resolve) => setImmediate(resolve));
    expect(stops()).toBe(0);
    becomeIdle();
    await stopping;
    expect(stops()).toBe(1);
  });

  it('reports a failed pass and goes on', async () => {
    const { subject, next, errors } = upkeep();
    const first = next();
    subject.start();
    (await first).end(new Error('no database'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(errors).toEqual([new Error('no database')]);
    await subject.stop();
  });
});
