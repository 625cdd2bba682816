import type { AppConfig } from '../../../src/config/app-config.js';
import { SecretReader } from '../../../src/config/secret-reader.js';
import { Credentials, SecretRedactor } from '../../../src/credentials/index.js';
import type { AgentRuntimeAdapter } from '../../../src/runtime-adapters/protocol/agent-runtime-adapter.js';
import type { AgentRuntimeEvent } from '../../../src/runtime-adapters/protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../../../src/runtime-adapters/protocol/agent-runtime-request.js';
import type {
  AgentRuntimeResponse,
  RuntimeFailure,
} from '../../../src/runtime-adapters/protocol/agent-runtime-response.js';
import type { AdapterTimings } from '../../../src/runtime-adapters/protocol/adapter-timings.js';
import type { ProviderRef } from '../../../src/runtime-adapters/protocol/provider-ref.js';
import type { Play } from '../../support/providers/play.js';
import type { ProviderStub } from '../../support/providers/provider-stub.js';

/** The credential's value: it must be in no event, whatever a provider does with it. */
export const CANARY = 'app-canary-9f3b7c21d4';

export const QUICK: AdapterTimings = { backoffMs: 5, pollMs: 10, recoverMs: 400, stopMs: 400 };

/** How one adapter is put to the contract: its stub, its frames, and where it may differ from the others. */
export interface AdapterHarness {
  readonly name: string;
  readonly ref: ProviderRef;
  readonly stub: ProviderStub;
  adapter(credentials: Credentials, redactor: SecretRedactor): AgentRuntimeAdapter;
  /** A whole answer that says these texts, as frames. The last frame is the terminal one. */
  frames(texts: readonly string[]): string[];
  /** The beginning of such an answer: at least one text, and nothing that ends it. */
  begun(texts: readonly string[]): string[];
  /** A frame that says that the run failed, with this message. */
  errorFrame(message: string): string;
  /** Makes the command be answered so, instead of being accepted. */
  refuse(...plays: Play[]): void;
  /** Makes the stream of an accepted command go so. */
  stream(...plays: Play[]): void;
  readonly expected: {
    readonly usage: {
      promptTokens: number | null;
      completionTokens: number | null;
      totalTokens: number | null;
    };
    readonly providerRequestId: string | null;
    /** The failure that an `errorFrame` is. */
    readonly errorFrame: RuntimeFailure['type'];
    /** What becomes of a stream that ends or breaks before its terminal frame. */
    readonly lostStream: Pick<RuntimeFailure, 'type' | 'retryable'>;
    /** What becomes of a refusal for a fault of the server, with two attempts allowed. */
    readonly serverError: { readonly retryable: boolean; readonly posts: number };
    /** How a confirmed or unconfirmable cancellation ends. */
    readonly cancel: 'cancelled' | 'outcome_unknown';
    /** Whether the reference names a credential, rather than the configuration of the server. */
    readonly namesCredential: boolean;
  };
}

export function credentialsFor(
  stub: ProviderStub,
  provider: string,
  change: Partial<AppConfig['credentials'][string]> = {},
): { credentials: Credentials; redactor: SecretRedactor } {
  const redactor = new SecretRedactor();
  const configured = { c: { provider, env: 'PROVIDER_KEY', baseUrl: stub.baseUrl, ...change } };
  const reader = new SecretReader({ PROVIDER_KEY: CANARY });
  return { credentials: new Credentials({ credentials: configured }, reader, redactor), redactor };
}

export function runtimeRequest(
  ref: ProviderRef,
  change: Partial<AgentRuntimeRequest> = {},
): AgentRuntimeRequest {
  return {
    commandId: '0b0e6a5e-7d0c-4c52-9d0a-1f1e1d1c1b1a:1',
    taskId: 'run-1',
    jobId: '0b0e6a5e-7d0c-4c52-9d0a-1f1e1d1c1b1a',
    correlationId: 'run-1',
    actor: { kind: 'user', id: 'alice@example.org' },
    agentRef: { agentKey: 'writer', version: 1, slotKey: null, provider: ref },
    scenario: 'workflow_node',
    runtimePermissionEnvelopeId: 'envelope-1',
    sourceSnapshotId: 'snapshot-1',
    inputEnvelope: {
      instructions: 'You are brief.',
      instruction: '写一首诗 about the sea',
      contextSummary: [{ kind: 'contextSummary', ref: 'chapter-1', text: 'It rained.' }],
      knowledge: [{ kind: 'knowledge', ref: 'kb-7', text: 'The sea is salty.' }],
      formatRequirements: 'Four lines.',
    },
    outputContract: { type: 'text' },
    traceabilityPolicy: { requireSourceRefs: false },
    timeoutPolicy: { totalSeconds: 20, idleSeconds: 20 },
    retryPolicy: { maxAttempts: 2 },
    auditPolicy: { level: 'summary' },
    ...change,
  };
}

export interface Heard {
  readonly events: AgentRuntimeEvent[];
  readonly response: AgentRuntimeResponse;
  /** The text deltas, joined. */
  readonly text: string;
}

/** Runs a call to its end and checks what holds for every call: one last event, and the canary nowhere. */
export async function hear(
  calls: AsyncIterable<AgentRuntimeEvent>,
  onEvent: (event: AgentRuntimeEvent) => void = () => undefined,
): Promise<Heard> {
  const events: AgentRuntimeEvent[] = [];
  for await (const event of calls) {
    events.push(event);
    onEvent(event);
  }
  const final = events.flatMap((event) => ('response' in event ? [event.response] : []));
  expect(final).toHaveLength(1);
  expect('response' in (events.at(-1) ?? {})).toBe(true);
  expect(JSON.stringify(events)).not.toContain(CANARY);
  const text = events
    .flatMap((event) => (event.type === 'runtime.delta' && event.channel === 'text' ? [event.text] : []))
    .join('');
  // A secret may not come in pieces either.
  expect(text).not.toContain(CANARY);
  return { events, response: final[0] as AgentRuntimeResponse, text };
}
