import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { DatabaseAddress } from '../database/database-address.js';
import { RunEventBus } from '../events/run-event-bus.js';
import { JournalWriter } from './journal/journal-writer.js';
import { RunLeases } from './leases/run-leases.js';
import { RunConnections } from './run-connections.js';
import { RunRepository } from './run.repository.js';
import { VisitRepository } from './visit.repository.js';
import { Workspaces } from './workspaces/workspaces.js';

/** Runs and visits: their records, their journal, their leases and their workspaces. */
@Global()
@Module({
  providers: [
    RunRepository,
    VisitRepository,
    {
      provide: RunConnections,
      inject: [DatabaseAddress],
      useFactory: ({ url }: DatabaseAddress) => new RunConnections(url),
    },
    {
      provide: RunLeases,
      inject: [DataSource, RunConnections, APP_CONFIG],
      useFactory: (dataSource: DataSource, connections: RunConnections, config: AppConfig) => {
        const owner = `${hostname()}:${process.pid}:${randomUUID()}`;
        return new RunLeases(dataSource, connections, owner, config.engine.leaseSeconds);
      },
    },
    {
      provide: JournalWriter,
      inject: [RunConnections, RunEventBus],
      useFactory: ({ journal }: RunConnections, bus: RunEventBus) =>
        new JournalWriter(journal, (event) => bus.publish(event)),
    },
    {
      provide: Workspaces,
      inject: [APP_CONFIG],
      useFactory: (config: AppConfig) => new Workspaces(path.join(config.dataDir, 'workspaces')),
    },
  ],
  exports: [RunRepository, VisitRepository, RunLeases, RunConnections, JournalWriter, Workspaces],
})
export class RunsModule {}
