import type { AuditLog } from '../../audit/index.js';
import { AgentStateError } from '../agent-errors.js';
import type { AgentRepository } from '../agent.repository.js';
import { providerRefOf } from '../config/provider-ref-of.js';
import type { RequestedBy } from '../requested-by.js';

/** Builds the link to a provider's console (decision 37); that somebody asked for it is kept in the audit log. */
export class OpenConsoleLink {
  constructor(
    private readonly agents: AgentRepository,
    /** The allow-listed base of a credential's console; null where none is configured. */
    private readonly consoleBaseUrl: (credentialRef: string) => string | null,
    private readonly audit: AuditLog,
  ) {}

  /** Throws AgentStateError where the version's provider has no console, or none that is allowed. */
  async execute(agentKey: string, version: number, by: RequestedBy): Promise<{ url: string }> {
    await this.agents.find(agentKey);
    const { config } = await this.agents.findVersion(agentKey, version);
    const ref = providerRefOf(config);
    if (ref?.runtimeProvider !== 'dify') {
      throw new AgentStateError(agentKey, `version ${version} has no console: its provider is not dify`);
    }
    const { appType, appId, workflowId, credentialRef } = ref.dify;
    const base = this.consoleBaseUrl(credentialRef);
    if (base === null) {
      throw new AgentStateError(agentKey, `credentials.${credentialRef}.consoleBaseUrl is not configured`);
    }
    const url = consoleUrl(base, appType, appId ?? workflowId ?? '');
    await this.agents.transaction((manager) =>
      this.audit.append(manager, {
        ...by,
        action: 'agent.console-opened',
        subject: { type: 'agent', id: agentKey },
        before: null,
        after: { version, url },
      }),
    );
    return { url };
  }
}

/** Nothing but the base and an id goes into it: no query, no fragment, no user. */
function consoleUrl(base: string, appType: string, id: string): string {
  const url = new URL(base);
  url.username = '';
  url.password = '';
  url.search = '';
  url.hash = '';
  const page = appType === 'workflow' ? 'workflow' : 'configuration';
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/app/${encodeURIComponent(id)}/${page}`;
  return url.href;
}
