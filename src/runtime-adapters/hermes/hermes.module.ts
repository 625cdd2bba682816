import { Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { LOGGER, type Logger } from '../../common/logging/logger.js';
import { APP_CONFIG, type AppConfig } from '../../config/app-config.js';
import { Credentials, SecretRedactor } from '../../credentials/index.js';
import { childSettings, externalSecret } from './bridge-credentials.js';
import type { BridgeSource } from './bridge-endpoint.js';
import { bridgeEntry } from './bridge-entry.js';
import { BridgeSupervisor } from './bridge-supervisor.js';
import { ExternalBridge } from './external-bridge.js';
import { HermesAdapter } from './hermes-adapter.js';

/** Injection token of the BridgeSource, for health checks. */
export const BRIDGE_SOURCE = Symbol('BridgeSource');

/** Our own agents: the bridge, managed or external, and the adapter that speaks to it. */
@Module({
  providers: [
    {
      provide: BRIDGE_SOURCE,
      inject: [APP_CONFIG, Credentials, SecretRedactor, LOGGER],
      useFactory: bridgeSource,
    },
    {
      provide: HermesAdapter,
      inject: [BRIDGE_SOURCE, SecretRedactor, APP_CONFIG],
      useFactory: (bridge: BridgeSource, redactor: SecretRedactor, { environment }: AppConfig) =>
        new HermesAdapter({ bridge, redactor, allowDemo: environment !== 'production' }),
    },
  ],
  exports: [HermesAdapter, BRIDGE_SOURCE],
})
export class HermesModule implements OnModuleInit, OnApplicationShutdown {
  constructor(@Inject(BRIDGE_SOURCE) private readonly bridge: BridgeSource) {}

  /** Does not wait: calls do, and the server is of use before the bridge listens. */
  onModuleInit(): void {
    this.bridge.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.bridge.stop();
  }
}

function bridgeSource(
  config: AppConfig,
  credentials: Credentials,
  redactor: SecretRedactor,
  logger: Logger,
): BridgeSource {
  const { mode, url } = config.hermes.bridge;
  if (mode === 'external') {
    return new ExternalBridge({ url, secret: () => externalSecret(config, credentials) });
  }
  return new BridgeSupervisor({
    entry: bridgeEntry(),
    settings: () => childSettings(config, credentials),
    logger,
    redact: (text) => redactor.redact(text),
    environment: process.env,
  });
}
