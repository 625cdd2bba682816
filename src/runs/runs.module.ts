import { hostname } from 'node:os';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { DatabaseAddress } from '../database/database-address.js';
import { RunEventBus } from '../events/run-event-bus.js';
import { JournalConnection } from './journal/journal-connection.js';
import { JournalWriter } from './journal/journal-writer.js';
import { RunLeases } from './leases/run-leases.js';
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
      provide: RunLeases,
      inject: [DataSource, APP_CONFIG],
      useFactory: (dataSource: DataSource, config: AppConfig) =>
        new RunLeases(dataSource, `${hostname()}:${process.pid}:${randomUUID()}`, config.engine.leaseSeconds),
    },
    {
      provide: JournalConnection,
      inject: [DatabaseAddress],
      useFactory: (address: DatabaseAddress) => new JournalConnection(address.url),
    },
    {
      provide: JournalWriter,
      inject: [JournalConnection, RunEventBus],
      useFactory: (connection: JournalConnection, bus: RunEventBus) =>
        new JournalWriter(connection, (event) => bus.publish(event)),
    },
    {
      provide: Workspaces,
      inject: [APP_CONFIG],
      useFactory: (config: AppConfig) => new Workspaces(path.join(config.dataDir, 'workspaces')),
    },
  ],
  exports: [RunRepository, VisitRepository, RunLeases, JournalConnection, JournalWriter, Workspaces],
})
export class RunsModule {}
