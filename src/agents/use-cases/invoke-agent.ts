import { z } from 'zod';
import { ValidationError, type FieldError } from '../../common/errors/domain-error.js';
import type { OwnTerms } from '../../runtime-adapters/ledger/request-digest.js';
import { ENVELOPE_PARTS } from '../../runtime-adapters/permission/envelope-policy.js';
import type { AgentRuntimeEvent } from '../../runtime-adapters/protocol/agent-runtime-event.js';
import type { AgentRuntimeRequest } from '../../runtime-adapters/protocol/agent-runtime-request.js';
import { AgentStateError } from '../agent-errors.js';
import type { AgentRepository } from '../agent.repository.js';
import type { AgentCatalogue } from '../catalogue/agent-catalogue.js';
import { outputContractSchema } from '../config/agent-config.js';
import { outputContractProblems } from '../config/check-agent-config.js';
import type { RequestedBy } from '../requested-by.js';

const CONTEXT_KINDS = ENVELOPE_PARTS.filter((part) => part === 'contextSummary' || part === 'knowledge');

/**
 * A visit's commands are `{visitUuid}:{attempt}`, and its recovery takes their ends for the visit's own: no caller may
 * put a call of its own in their place.
 */
const NO_VISIT = /^(?![0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:)/i;

/** Body of an invocation. Unknown keys are refused: permissions and tools are not the caller's to say (§4.1). */
export const invocationSchema = z.strictObject({
  commandId: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, 'must be 1 to 128 of A-Z a-z 0-9 . _ : -')
    .regex(NO_VISIT, 'must not look like a command of a run'),
  scenario: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 of A-Z a-z 0-9 . _ -'),
  instruction: z.string().min(1, 'must not be empty').max(1_000_000),
  context: z
    .array(
      z.strictObject({
        kind: z.enum(CONTEXT_KINDS),
        ref: z.string().min(1, 'must not be empty').max(500),
        text: z.string().max(1_000_000),
      }),
    )
    .max(200)
    .default([]),
  formatRequirements: z.string().max(100_000).nullish(),
  outputContract: outputContractSchema.optional(),
  traceabilityPolicy: z.strictObject({ requireSourceRefs: z.boolean() }).optional(),
});
export type Invocation = z.infer<typeof invocationSchema>;

/** The runtime behind its gate and ledger; GovernedRuntime is it. */
export interface InvokedRuntime {
  execute(request: AgentRuntimeRequest, signal: AbortSignal, own: OwnTerms): AsyncIterable<AgentRuntimeEvent>;
}

/** Calls an agent's current version once for a command (contract.md). */
export class InvokeAgent {
  constructor(
    private readonly agents: AgentRepository,
    private readonly catalogue: AgentCatalogue,
    private readonly runtime: InvokedRuntime,
  ) {}

  /**
   * The runtime's events, the last with the response. Throws AgentNotFoundError, AgentStateError and ValidationError
   * before the first event; CommandConflictError with it.
   */
  async execute(
    agentKey: string,
    invocation: Invocation,
    by: RequestedBy,
    signal: AbortSignal,
  ): Promise<AsyncIterable<AgentRuntimeEvent>> {
    const problems = contractProblems(invocation);
    if (problems.length > 0) throw ValidationError.ofFields(problems);
    await this.agents.findLiving(agentKey);
    const agent = await this.catalogue.resolve({ agentKey });
    if (!agent) throw new AgentStateError(agentKey, 'it has no published version that can be called');
    const { commandId, scenario, instruction, context, formatRequirements = null } = invocation;
    const request: AgentRuntimeRequest = {
      commandId,
      taskId: null,
      jobId: null,
      correlationId: by.correlationId ?? commandId,
      actor: { kind: by.actor.kind === 'admin-key' ? 'admin' : 'system', id: by.actor.name },
      agentRef: agent.agentRef,
      scenario,
      runtimePermissionEnvelopeId: null,
      sourceSnapshotId: null,
      inputEnvelope: {
        instructions: agent.instructions,
        instruction,
        contextSummary: context.filter(({ kind }) => kind === 'contextSummary'),
        knowledge: context.filter(({ kind }) => kind === 'knowledge'),
        formatRequirements,
      },
      ...agent.policies,
      outputContract: invocation.outputContract ?? agent.outputContract,
      traceabilityPolicy: {
        // A caller may ask for more than the version, never for less.
        requireSourceRefs:
          agent.policies.traceabilityPolicy.requireSourceRefs ||
          (invocation.traceabilityPolicy?.requireSourceRefs ?? false),
      },
    };
    const { outputContract, traceabilityPolicy } = invocation;
    return this.runtime.execute(request, signal, { outputContract, traceabilityPolicy });
  }
}

function contractProblems({ outputContract }: Invocation): FieldError[] {
  return outputContract ? outputContractProblems('outputContract', outputContract) : [];
}
