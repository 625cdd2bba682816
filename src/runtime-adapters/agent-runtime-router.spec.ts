import { SecretRedactor } from '../credentials/index.js';
import { AgentRuntimeRouter } from './agent-runtime-router.js';
import type { AgentRuntimeAdapter } from './protocol/agent-runtime-adapter.js';
import type { AgentRuntimeEvent } from './protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from './protocol/agent-runtime-request.js';
import type { ProviderRef, RuntimeProvider } from './protocol/provider-ref.js';
import { refusedResponse } from './protocol/runtime-unavailable.js';
import { failureOf } from './protocol/failure-classification.js';

class RecordingAdapter implements AgentRuntimeAdapter {
  readonly received: AgentRuntimeRequest[] = [];

  constructor(
    readonly provider: RuntimeProvider,
    private readonly isConfigured = true,
  ) {}

  supports(): boolean {
    return this.isConfigured;
  }

  async *execute(request: AgentRuntimeRequest): AsyncGenerator<AgentRuntimeEvent> {
    this.received.push(request);
    const failure = await Promise.resolve(failureOf('provider_5xx', 'down'));
    yield { type: 'runtime.failed', response: refusedResponse(this.provider, failure) };
  }

  recover() {
    return Promise.resolve(refusedResponse(this.provider, failureOf('outcome_unknown', 'asked')));
  }

  cancel() {
    return Promise.resolve(true);
  }
}

const DIFY: ProviderRef = {
  runtimeProvider: 'dify',
  dify: { appType: 'workflow', appId: null, workflowId: 'w', credentialRef: 'c' },
};
const NEW_API: ProviderRef = { runtimeProvider: 'new-api', newApi: { model: 'm', credentialRef: 'c' } };
const HERMES: ProviderRef = { runtimeProvider: 'hermes', hermes: { model: 'demo' } };

function requestFor(provider: ProviderRef, instruction = 'x'): AgentRuntimeRequest {
  return {
    commandId: 'c:1',
    taskId: null,
    jobId: null,
    correlationId: 'r',
    actor: { kind: 'system', id: 's' },
    agentRef: { agentKey: 'a', version: 1, slotKey: null, provider },
    scenario: 'workflow_node',
    runtimePermissionEnvelopeId: null,
    sourceSnapshotId: null,
    inputEnvelope: {
      instructions: '',
      instruction,
      contextSummary: [],
      knowledge: [],
      formatRequirements: null,
    },
    outputContract: { type: 'text' },
    traceabilityPolicy: { requireSourceRefs: false },
    timeoutPolicy: { totalSeconds: 1, idleSeconds: 1 },
    retryPolicy: { maxAttempts: 1 },
    auditPolicy: { level: 'summary' },
    workbench: {} as AgentRuntimeRequest['workbench'],
  };
}

async function lastEvent(
  router: AgentRuntimeRouter,
  request: AgentRuntimeRequest,
): Promise<AgentRuntimeEvent | null> {
  let last: AgentRuntimeEvent | null = null;
  for await (const event of router.execute(request, new AbortController().signal)) last = event;
  return last;
}

describe('AgentRuntimeRouter', () => {
  it('asks the one adapter that the reference names, and no other when it fails', async () => {
    const [dify, newApi] = [new RecordingAdapter('dify'), new RecordingAdapter('new-api')];
    const last = await lastEvent(new AgentRuntimeRouter([newApi, dify]), requestFor(DIFY));
    expect(last).toMatchObject({ response: { provider: 'dify', failure: { type: 'provider_5xx' } } });
    expect([dify.received.length, newApi.received.length]).toEqual([1, 0]);
  });

  it.each([
    ['unknown', []],
    ['not configured', [new RecordingAdapter('dify', false)]],
  ])('fails closed where the provider is %s', async (_what, adapters) => {
    const newApi = new RecordingAdapter('new-api');
    const last = await lastEvent(new AgentRuntimeRouter([...adapters, newApi]), requestFor(DIFY));
    expect(last).toMatchObject({ response: { status: 'failed', failure: { type: 'runtime_unavailable' } } });
    expect(newApi.received).toHaveLength(0);
  });

  it('lets nothing go that holds a live secret', async () => {
    const redactor = new SecretRedactor();
    redactor.register('credentials.c', 'canary-key-1');
    const newApi = new RecordingAdapter('new-api');
    const last = await lastEvent(
      new AgentRuntimeRouter([newApi], redactor),
      requestFor(NEW_API, 'canary-key-1'),
    );
    expect(last).toMatchObject({
      response: { failure: { type: 'permission_denied', code: 'forbidden_field' } },
    });
    expect(JSON.stringify(last)).not.toContain('canary');
    expect(newApi.received).toHaveLength(0);
  });

  it('gives the workbench to our own bridge only', async () => {
    const [newApi, hermes] = [new RecordingAdapter('new-api'), new RecordingAdapter('hermes')];
    const router = new AgentRuntimeRouter([newApi, hermes]);
    await lastEvent(router, requestFor(NEW_API));
    await lastEvent(router, requestFor(HERMES));
    expect(newApi.received[0]?.workbench).toBeUndefined();
    expect(hermes.received[0]?.workbench).toBeDefined();
  });

  it('recovers and cancels by the adapter of the call, and knows when there is none', async () => {
    const router = new AgentRuntimeRouter([new RecordingAdapter('dify')]);
    const signal = new AbortController().signal;
    const call = { commandId: 'c', correlationId: 'r', provider: DIFY, providerRequestId: 'p', recovery: {} };
    expect((await router.recover(call, signal)).failure?.message).toBe('asked');
    expect(await router.cancel(call)).toBe(true);
    const other = { ...call, provider: NEW_API };
    expect(await router.recover(other, signal)).toMatchObject({
      providerRequestId: 'p',
      failure: { type: 'outcome_unknown' },
    });
    expect(await router.cancel(other)).toBe(false);
    expect(router.supports(NEW_API)).toBe(false);
  });
});
