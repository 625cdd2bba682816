import fc from 'fast-check';
import type { AgentRuntimeRequest, ContextPart } from '../protocol/agent-runtime-request.js';
import { ENVELOPE_PARTS, type EnvelopePolicy } from './envelope-policy.js';
import { issueEnvelope } from './permission-envelope.js';
import { passGate, type GateDecision } from './permission-gate.js';

const AT = new Date('2026-01-01T00:00:00Z');

function request(input: Partial<AgentRuntimeRequest['inputEnvelope']> = {}): AgentRuntimeRequest {
  return {
    commandId: 'c',
    taskId: null,
    jobId: null,
    correlationId: 'r',
    actor: { kind: 'admin', id: 'ci' },
    agentRef: {
      agentKey: 'a',
      version: 1,
      slotKey: null,
      provider: { runtimeProvider: 'new-api', newApi: { model: 'm', credentialRef: 'k' } },
    },
    scenario: 'rewrite',
    runtimePermissionEnvelopeId: null,
    sourceSnapshotId: null,
    inputEnvelope: {
      instructions: 'You write.',
      instruction: 'Rewrite',
      contextSummary: [],
      knowledge: [],
      formatRequirements: null,
      ...input,
    },
    outputContract: { type: 'text' },
    traceabilityPolicy: { requireSourceRefs: false },
    timeoutPolicy: { totalSeconds: 60, idleSeconds: 10 },
    retryPolicy: { maxAttempts: 1 },
    auditPolicy: { level: 'summary' },
  };
}

function gate(of: AgentRuntimeRequest, envelope: EnvelopePolicy, tools: string[] = []): GateDecision {
  const { provider } = of.agentRef;
  const policy = {
    status: 'PUBLISHED' as const,
    provider,
    envelope,
    tools,
    budgetTokens: null,
    requireSourceRefs: false,
  };
  return passGate(of, issueEnvelope(of, policy, AT));
}

const part = (kind: string, ref: string, text: string): ContextPart => ({ kind, ref, text });

describe('passGate', () => {
  it('lets everything through that is allowed and fits', () => {
    const of = request({ knowledge: [part('knowledge', 'k1', 'fact')], formatRequirements: 'short' });
    const decision = gate(of, { allow: ENVELOPE_PARTS, maxChars: 100 });
    expect(decision).toMatchObject({
      passed: true,
      trimmed: [],
      request: { inputEnvelope: of.inputEnvelope },
    });
  });

  it('keeps back what is not allowed, and says what', () => {
    const of = request({
      contextSummary: [part('contextSummary', 'c1', 'private')],
      knowledge: [part('knowledge', 'k1', 'fact')],
      formatRequirements: 'short',
    });
    expect(gate(of, { allow: ['instruction', 'knowledge'], maxChars: 100 })).toMatchObject({
      passed: true,
      request: {
        inputEnvelope: { contextSummary: [], knowledge: [{ ref: 'k1' }], formatRequirements: null },
      },
      trimmed: [
        { part: 'formatRequirements', ref: null, reason: 'not_allowed', chars: 5 },
        { part: 'contextSummary', ref: 'c1', reason: 'not_allowed', chars: 7 },
      ],
    });
  });

  it('cuts context to the room left, the last first, at whole characters', () => {
    const of = request({
      instruction: '12345',
      contextSummary: [part('contextSummary', 'c1', 'abc')],
      knowledge: [part('knowledge', 'k1', '😀😀😀'), part('knowledge', 'k2', 'x')],
    });
    expect(gate(of, { allow: ENVELOPE_PARTS, maxChars: 14 })).toMatchObject({
      request: {
        inputEnvelope: { contextSummary: [{ text: 'abc' }], knowledge: [{ ref: 'k1', text: '😀😀' }] },
      },
      trimmed: [
        { part: 'knowledge', ref: 'k1', reason: 'over_max_chars', chars: 1 },
        { part: 'knowledge', ref: 'k2', reason: 'over_max_chars', chars: 1 },
      ],
    });
  });

  it('counts references too, which leave with their texts', () => {
    const of = request({
      instruction: '12345',
      contextSummary: [part('contextSummary', 'c'.repeat(6), '')],
      knowledge: [
        part('knowledge', 'k1', 'x'),
        part('knowledge', 'k'.repeat(500), 'y'),
        part('knowledge', 'k3', ''),
      ],
    });
    expect(gate(of, { allow: ENVELOPE_PARTS, maxChars: 10 })).toMatchObject({
      request: { inputEnvelope: { contextSummary: [], knowledge: [{ ref: 'k1' }, { ref: 'k3' }] } },
      trimmed: [
        { part: 'contextSummary', ref: 'cccccc', reason: 'over_max_chars', chars: 0 },
        { part: 'knowledge', ref: 'k'.repeat(500), reason: 'over_max_chars', chars: 1 },
      ],
    });
  });

  it('refuses rather than cuts what is asked', () => {
    const decision = gate(request({ instruction: '12345', formatRequirements: '67' }), {
      allow: ENVELOPE_PARTS,
      maxChars: 6,
    });
    expect(decision).toMatchObject({
      passed: false,
      reason: expect.stringContaining('7 characters') as string,
    });
  });

  it('refuses where instructions of the caller may not leave', () => {
    expect(gate(request(), { allow: ['knowledge'], maxChars: 10 })).toMatchObject({ passed: false });
  });

  it('grants only the tools of the version', () => {
    const workbench = {
      runId: 'r',
      visitUuid: 'v',
      nodeId: 'n',
      attempt: 1,
      workspaceDir: '/w',
      tools: ['read_file', 'write_file'],
      contextQuery: null,
      predecessors: [],
    };
    const decision = gate({ ...request(), workbench }, { allow: ENVELOPE_PARTS, maxChars: 10 }, [
      'read_file',
    ]);
    expect(decision).toMatchObject({
      request: { workbench: { tools: ['read_file'] } },
      trimmed: [{ part: 'tools', ref: 'write_file', reason: 'tool_not_granted' }],
    });
  });

  it('names the envelope it passed', () => {
    const decision = gate(request(), { allow: ENVELOPE_PARTS, maxChars: 10 });
    expect(decision.passed && decision.request.runtimePermissionEnvelopeId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('never lets more through than maxChars, and accounts for every character kept back', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 30 });
    const parts = (kind: string): fc.Arbitrary<ContextPart[]> =>
      fc.array(fc.record({ kind: fc.constant(kind), ref: fc.string(), text }), { maxLength: 4 });
    const length = (texts: string[]): number => texts.reduce((sum, one) => sum + [...one].length, 0);
    fc.assert(
      fc.property(
        text,
        fc.option(text),
        parts('contextSummary'),
        parts('knowledge'),
        fc.integer({ min: 1, max: 80 }),
        fc.subarray([...ENVELOPE_PARTS]),
        (instruction, formatRequirements, contextSummary, knowledge, maxChars, allow) => {
          const of = request({ instruction, formatRequirements, contextSummary, knowledge });
          const decision = gate(of, { allow, maxChars });
          if (!decision.passed) return;
          const sent = decision.request.inputEnvelope;
          const texts = (input: AgentRuntimeRequest['inputEnvelope']): string[] => [
            input.instruction,
            input.formatRequirements ?? '',
            ...[...input.contextSummary, ...input.knowledge].map((one) => one.text),
          ];
          const refs = [...sent.contextSummary, ...sent.knowledge].map(({ ref }) => ref);
          const kept = length(texts(sent));
          const cut = decision.trimmed.reduce((sum, { chars }) => sum + chars, 0);
          expect(kept + length(refs)).toBeLessThanOrEqual(maxChars);
          expect(kept + cut).toBe(length(texts(of.inputEnvelope)));
          expect(sent.instruction).toBe(instruction);
        },
      ),
    );
  });
});
