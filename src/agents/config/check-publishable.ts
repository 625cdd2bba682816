import type { FieldError } from '../../common/errors/domain-error.js';
import type { CredentialUse } from '../../credentials/index.js';
import type { ProviderRef } from '../../runtime-adapters/protocol/provider-ref.js';
import type { AgentConfig } from './agent-config.js';
import { checkAgentConfig } from './check-agent-config.js';
import { credentialOf, providerRefOf } from './provider-ref-of.js';

/** What a version refers to and must be there before it is published. */
export interface PublishSurroundings {
  /** Whether a runtime could execute this reference here. */
  supports(ref: ProviderRef): boolean;
  /** Why a credential may not be used so; null when it may. Never holds its value. */
  credentialProblem(ref: string, use: CredentialUse): string | null;
  /** Whether a living agent with a current version has the key. */
  hasPublishedAgent(agentKey: string): Promise<boolean>;
  /** The demo model is for trying things out (decision 49). */
  allowsDemoModel: boolean;
}

/** Finds everything that keeps a version from being published, one entry a problem (§5.1 rule 3, §6). */
export class CheckPublishable {
  constructor(private readonly surroundings: PublishSurroundings) {}

  /** `config` as stored: also what an import or an older release has left is checked again. */
  async execute(agentKey: string, stored: unknown): Promise<FieldError[]> {
    const { config, problems } = checkAgentConfig(stored);
    if (!config) return problems;
    const ref = providerRefOf(config);
    return [
      ...(ref ? this.#referenceProblems(agentKey, ref) : []),
      ...envelopeProblems(config),
      ...(await this.#judgeProblems(agentKey, config)),
    ];
  }

  #referenceProblems(agentKey: string, ref: ProviderRef): FieldError[] {
    const problems: FieldError[] = [];
    const { runtimeProvider } = ref;
    if (!this.surroundings.supports(ref)) {
      const message = `the runtime ${runtimeProvider} is not configured on this server`;
      problems.push({ field: 'config.runtimeProvider', message });
    }
    if (runtimeProvider === 'hermes' && ref.hermes.model === 'demo' && !this.surroundings.allowsDemoModel) {
      problems.push({ field: 'config.hermes.model', message: 'the demo model is refused in production' });
    }
    const credential = credentialOf(ref);
    const use = credential && { provider: credential.provider, agentKey };
    const why = credential && use && this.surroundings.credentialProblem(credential.ref, use);
    if (credential && why) problems.push({ field: `config.${credential.field}`, message: why });
    return problems;
  }

  async #judgeProblems(agentKey: string, { judge }: AgentConfig): Promise<FieldError[]> {
    if (!judge) return [];
    const field = 'config.judge.agentKey';
    if (judge.agentKey === agentKey) return [{ field, message: 'an agent cannot judge itself' }];
    if (await this.surroundings.hasPublishedAgent(judge.agentKey)) return [];
    return [{ field, message: `agent ${judge.agentKey} has no published version` }];
  }
}

function envelopeProblems({ envelope }: AgentConfig): FieldError[] {
  if (!envelope || envelope.allow.includes('instruction')) return [];
  const message = 'must allow "instruction": an agent that may not be asked anything cannot be called';
  return [{ field: 'config.envelope.allow', message }];
}
