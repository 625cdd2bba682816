import { Global, Module, type DynamicModule } from '@nestjs/common';
import { LOGGER, type Logger } from './logger.js';

/** Provides the process's logger everywhere as LOGGER. */
@Global()
@Module({})
export class LoggingModule {
  static forRoot(logger: Logger): DynamicModule {
    return { module: LoggingModule, providers: [{ provide: LOGGER, useValue: logger }], exports: [LOGGER] };
  }
}
