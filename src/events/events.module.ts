import { Global, Module } from '@nestjs/common';
import { RunEventBus } from './run-event-bus.js';
import { RunEventStore } from './run-event-store.js';

/** Everything that happens in runs: the bus that hands it on, and the store it can be read from. */
@Global()
@Module({ providers: [RunEventBus, RunEventStore], exports: [RunEventBus, RunEventStore] })
export class EventsModule {}
