/** Which runtime executes an agent, and by which reference (agent-runtime-protocol.md §5.2, §5.3). */
export type ProviderRef =
  | { runtimeProvider: 'hermes'; hermes: { model: string; tools?: string[] } }
  | { runtimeProvider: 'new-api'; newApi: { model: string; credentialRef: string } }
  | {
      runtimeProvider: 'dify';
      dify: {
        appType: 'agent' | 'chat' | 'workflow';
        appId: string | null;
        workflowId: string | null;
        /** Streaming unless a short task asks for one answer; agent apps always stream. */
        responseMode?: 'streaming' | 'blocking';
        credentialRef: string;
      };
    }
  | {
      runtimeProvider: 'agentscope';
      agentscope: {
        graphId?: string;
        agentId?: string;
        version?: string;
        protocolVersion?: 1 | 2;
        credentialRef: string;
      };
    }
  | { runtimeProvider: 'isolated-writer'; writer: { name: string; model: string; credentialRef: string } };

export type RuntimeProvider = ProviderRef['runtimeProvider'];
