import type { AppConfig } from '../../config/app-config.js';
import { CredentialError, type Credentials } from '../../credentials/index.js';
import { BridgeUnavailableError } from './bridge-endpoint.js';
import type { ChildSettings } from './child-environment.js';

type HermesConfig = Pick<AppConfig, 'hermes' | 'environment' | 'logLevel'>;

/** What a managed bridge starts with. A key that cannot be had switches the models off, not the bridge. */
export async function childSettings(
  config: HermesConfig,
  credentials: Credentials,
): Promise<ChildSettings & { readonly llmProblem: string | null }> {
  const { llm, bridge } = config.hermes;
  const common = {
    maxToolCalls: bridge.maxToolCallsPerVisit,
    allowDemo: config.environment !== 'production',
    logLevel: config.logLevel,
  };
  if (!llm.baseUrl) {
    return {
      ...common,
      llm: null,
      llmProblem: 'hermes.llm.base-url is not set: only the demo model can run',
    };
  }
  if (!llm.credentialRef) {
    // Endpoints on the own machine mostly want no key.
    return { ...common, llm: { baseUrl: llm.baseUrl, apiKey: null }, llmProblem: null };
  }
  try {
    const apiKey = await valueOf(llm.credentialRef, credentials);
    return { ...common, llm: { baseUrl: llm.baseUrl, apiKey }, llmProblem: null };
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error;
    return { ...common, llm: null, llmProblem: `hermes.llm.credential-ref: ${error.message}` };
  }
}

/** The bearer token of an external bridge. Throws BridgeUnavailableError naming the key to fix. */
export async function externalSecret(config: HermesConfig, credentials: Credentials): Promise<string> {
  const { credentialRef } = config.hermes.bridge;
  if (!credentialRef) throw new BridgeUnavailableError('hermes.bridge.credential-ref is not set', false);
  try {
    return await valueOf(credentialRef, credentials);
  } catch (error) {
    if (!(error instanceof CredentialError)) throw error;
    throw new BridgeUnavailableError(`hermes.bridge.credential-ref: ${error.message}`, false, {
      cause: error,
    });
  }
}

/** The operator's own configuration names the credential, so it may be of whatever provider it is declared as. */
async function valueOf(ref: string, credentials: Credentials): Promise<string> {
  const provider = credentials.list().find((known) => known.ref === ref)?.provider ?? '';
  return (await credentials.resolve(ref, { provider, agentKey: null })).value;
}
