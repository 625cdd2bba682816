import { Module } from '@nestjs/common';
import { SecretRedactor } from '../credentials/index.js';
import { AgentRuntimeRouter } from './agent-runtime-router.js';
import { HermesAdapter, HermesModule } from './hermes/index.js';

/** Every runtime that executes agents, behind one router. */
@Module({
  imports: [HermesModule],
  providers: [
    {
      provide: AgentRuntimeRouter,
      inject: [HermesAdapter, SecretRedactor],
      useFactory: (hermes: HermesAdapter, redactor: SecretRedactor) =>
        new AgentRuntimeRouter([hermes], redactor),
    },
  ],
  exports: [AgentRuntimeRouter],
})
export class RuntimeAdaptersModule {}
