import { Global, Module, type DynamicModule } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DatabaseAddress } from './database-address.js';
import type { OpenDatabase } from './open-database.js';

/**
 * Provides the open database everywhere. It is opened before Nest and closed after it by whoever opened it, so that
 * no module loses it while it shuts down, and a start that fails leaves no PostgreSQL behind.
 */
@Global()
@Module({})
export class DatabaseModule {
  static forRoot({ address, dataSource }: Pick<OpenDatabase, 'address' | 'dataSource'>): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        { provide: DatabaseAddress, useValue: address },
        { provide: DataSource, useValue: dataSource },
      ],
      exports: [DatabaseAddress, DataSource],
    };
  }
}
