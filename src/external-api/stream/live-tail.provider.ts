import { Logger, type FactoryProvider } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../config/app-config.js';
import { LiveTail } from '../../events/live-tail.js';
import { RunEventBus } from '../../events/run-event-bus.js';
import { RunEventStore } from '../../events/run-event-store.js';

/** The live tail of this process; `StreamRunEvents` closes it. */
export const liveTailProvider: FactoryProvider<LiveTail> = {
  provide: LiveTail,
  inject: [APP_CONFIG, RunEventBus, RunEventStore],
  useFactory: ({ externalApi }: AppConfig, bus: RunEventBus, store: RunEventStore): LiveTail => {
    const log = new Logger(LiveTail.name);
    return new LiveTail(bus, store, (message, error) => log.error(`${message}: ${String(error)}`), {
      heartbeatMillis: externalApi.sse.heartbeatSeconds * 1000,
    });
  },
};
