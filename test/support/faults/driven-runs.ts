import type { ActingStub } from './acting-stub.js';
import { judgeActs, judgeEvents } from './judge-run.js';
import { RunReader, type ReadEvent } from './run-reader.js';
import type { Servers } from './servers.js';
import type { Workload, workloads } from './workloads.js';

export interface DrivenRun {
  readonly tag: string;
  readonly workload: Workload;
  readonly reader: RunReader;
  /** Runs that its subWorkflow node started, as its stream told. */
  readonly children: Map<string, RunReader>;
}

interface ShownRun {
  readonly status: string;
  readonly statusReason: string | null;
  readonly outputs: Readonly<Record<string, unknown>> | null;
  readonly nodes: readonly { readonly nodeId: string; readonly status: string; readonly logsCount: number }[];
}

/** Creates, starts, answers and cancels runs over HTTP as a client does who tries again until he is answered. */
export class DrivenRuns {
  readonly all: DrivenRun[] = [];
  #listeners = new Set<(event: ReadEvent) => void>();
  #next = 0;

  constructor(
    private readonly lives: Servers,
    private readonly stub: ActingStub,
  ) {}

  async install({ child, all }: ReturnType<typeof workloads>): Promise<void> {
    for (const document of [child, ...all.map((one) => one.document)]) {
      const { status, text } = await this.lives.request('POST', '/admin/v1/workflows', document);
      if (status !== 201) throw new Error(`the workflow was not stored: ${status} ${text}`);
    }
  }

  /** Tells of every event of every run that is being driven. */
  listen(listener: (event: ReadEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves with the next event that is wanted, or after so long without one. */
  async next(wanted: (event: ReadEvent) => boolean, patienceMillis = 5_000): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        stop();
        resolve();
      };
      const timer = setTimeout(done, patienceMillis);
      const stop = this.listen((event) => {
        if (wanted(event)) done();
      });
    });
  }

  /** One run from its creation to its end. */
  async drive(workload: Workload): Promise<DrivenRun> {
    const { lives } = this;
    const tag = `t${(this.#next += 1)}`;
    const runs = `/api/v1/workflows/${workload.name}/runs`;
    const created = await lives.request(
      'POST',
      runs,
      { variables: workload.variables(tag) },
      { 'Idempotency-Key': tag },
    );
    if (created.status !== 201) throw new Error(`no run was created: ${created.status} ${created.text}`);
    const { runId } = created.data as { runId: string };
    const path = `${runs}/${runId}`;
    const started = await lives.request('POST', `${path}/start`);
    if (started.status !== 200 && !(started.status === 409 && started.lost > 0)) {
      throw new Error(`the run was not started: ${started.status} ${started.text}`);
    }
    const run = { tag, workload, reader: new RunReader(lives, path), children: new Map<string, RunReader>() };
    this.all.push(run);
    const alongside = new Set<Promise<void>>();
    const also = (task: Promise<void>): void => {
      alongside.add(task);
    };
    let hasCancelled = false;
    const answered = new Set<string>();
    run.reader.onEvent((event) => {
      const { nodeId = '', nodeType, status, waitingFor, visitUuid = '' } = event.payload;
      if (waitingFor?.childRunId !== undefined && !run.children.has(waitingFor.childRunId)) {
        const reader = new RunReader(lives, `/api/v1/workflows/child-flow/runs/${waitingFor.childRunId}`);
        run.children.set(waitingFor.childRunId, reader);
        also(reader.readToEnd());
      }
      const { cancelAt } = workload;
      if (cancelAt && nodeId === cancelAt.nodeId && status === cancelAt.status && !hasCancelled) {
        hasCancelled = true;
        also(this.#cancel(path));
      }
      if (workload.answer && nodeType === 'humanInput' && status === 'WAITING' && !answered.has(visitUuid)) {
        answered.add(visitUuid);
        also(this.#answer(`${path}/nodes/${nodeId}/input`, workload.answer));
      }
      for (const listener of this.#listeners) listener(event);
    });
    await run.reader.readToEnd();
    await Promise.all(alongside);
    return run;
  }

  /** Runs whose terminal event has not been read, and what else is wrong with them. */
  withoutEnd(): string[] {
    return this.all
      .filter(({ reader }) => !reader.events.some(({ event }) => event.startsWith('workflow_')))
      .flatMap(({ reader, tag }) => [
        `${reader.path} has no end`,
        ...reader.problems,
        ...judgeActs(reader.events, tag, this.stub),
      ]);
  }

  /** Everything that is wrong with a run that has ended; a fresh reader has to see what the first one saw. */
  async judge(run: DrivenRun): Promise<string[]> {
    const { tag, workload, reader, children } = run;
    const problems = [
      ...(await this.#judgeStream(reader, tag)),
      ...(
        await Promise.all([...children.values()].map((child) => this.#judgeStream(child, `${tag}.sub`)))
      ).flat(),
    ];
    const { data } = await this.lives.request('GET', reader.path);
    const { status, statusReason, outputs, nodes } = data as ShownRun;
    if (status !== workload.status || statusReason !== workload.statusReason) {
      problems.push(`it is ${status} (${statusReason ?? 'no reason'}), not ${workload.status}`);
    }
    for (const { nodeId, status: shown } of nodes) {
      // Of several visits at the same time, the one that began last is shown.
      const begun = reader.events.findLast(
        ({ payload }) => payload.nodeId === nodeId && (payload.attempt === 1 || payload.status === 'SKIPPED'),
      );
      const seen = reader.events.findLast(
        ({ event, payload }) => event === 'node_status' && payload.visitUuid === begun?.payload.visitUuid,
      );
      if (seen?.payload.status !== shown) {
        problems.push(
          `${nodeId} is shown ${shown}, its last event says ${seen?.payload.status ?? 'nothing'}`,
        );
      }
    }
    if (workload.outputs) {
      const own = Object.fromEntries(Object.entries(outputs ?? {}).filter(([name]) => !name.startsWith('_')));
      const wanted = JSON.stringify(workload.outputs(tag));
      if (JSON.stringify(own) !== wanted) problems.push(`outputs ${JSON.stringify(own)}, not ${wanted}`);
    }
    if (workload.acts) {
      const keys = (all: Iterable<string>): string => [...new Set(all)].sort().join(' ');
      const own = this.stub.acts.filter(({ key }) => key.startsWith(`${tag}/`) || key.startsWith(`${tag}.`));
      const acted = keys(own.map(({ key }) => key));
      const wanted = keys(workload.acts(tag));
      if (acted !== wanted) problems.push(`acts ${acted}, not ${wanted}`);
    }
    return problems.map((problem) => `${workload.name} ${tag} ${reader.path}: ${problem}`);
  }

  async #judgeStream(reader: RunReader, tag: string): Promise<string[]> {
    const again = new RunReader(this.lives, reader.path);
    await again.readToEnd();
    const problems = [
      ...reader.problems,
      ...judgeEvents(reader.events),
      ...judgeActs(reader.events, tag, this.stub),
    ];
    if (again.events.length !== reader.events.length) {
      problems.push(`${again.events.length} events are stored, ${reader.events.length} were read`);
    }
    const changed = reader.events.find(({ id, event, data }, at) => {
      const stored = again.events[at];
      return stored?.id !== id || stored.event !== event || stored.data !== data;
    });
    if (changed) problems.push(`event ${changed.id} is stored otherwise than it was read: ${changed.data}`);
    return problems;
  }

  async #answer(target: string, values: Readonly<Record<string, unknown>>): Promise<void> {
    const { status, text, lost } = await this.lives.request('POST', target, { values });
    if (status === 200 || (status === 409 && lost > 0)) return;
    throw new Error(`the answer was not taken: ${status} ${text}`);
  }

  async #cancel(path: string): Promise<void> {
    const { status, text, lost } = await this.lives.request('POST', `${path}/cancel`);
    if (status === 200 || (status === 409 && lost > 0)) return;
    throw new Error(`the run was not cancelled: ${status} ${text}`);
  }
}
