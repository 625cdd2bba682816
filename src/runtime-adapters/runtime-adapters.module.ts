import { Module } from '@nestjs/common';
import { Credentials, SecretRedactor } from '../credentials/index.js';
import { AgentRuntimeRouter } from './agent-runtime-router.js';
import { AgentScopeAdapter } from './agentscope/agentscope-adapter.js';
import { DifyAdapter } from './dify/dify-adapter.js';
import { HermesAdapter, HermesModule } from './hermes/index.js';
import { NewApiAdapter } from './new-api/new-api-adapter.js';

/** Every runtime that executes agents, behind one router. */
@Module({
  imports: [HermesModule],
  providers: [
    {
      provide: AgentRuntimeRouter,
      inject: [HermesAdapter, Credentials, SecretRedactor],
      useFactory: (hermes: HermesAdapter, credentials: Credentials, redactor: SecretRedactor) =>
        new AgentRuntimeRouter(
          [
            hermes,
            new NewApiAdapter(credentials, redactor),
            new DifyAdapter(credentials, redactor),
            new AgentScopeAdapter(credentials, redactor),
          ],
          redactor,
        ),
    },
  ],
  exports: [AgentRuntimeRouter],
})
export class RuntimeAdaptersModule {}
