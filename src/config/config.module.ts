import { Global, Module, type DynamicModule } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { APP_CONFIG } from './app-config.js';
import type { LoadedConfig } from './load-config.js';
import { SecretReader } from './secret-reader.js';

/** Provides the configuration everywhere: typed as APP_CONFIG, with secrets behind SecretReader. */
@Global()
@Module({})
export class AppConfigModule {
  static forRoot({ config, secrets }: LoadedConfig): DynamicModule {
    const nest = ConfigModule.forRoot({
      isGlobal: true,
      ignoreEnvFile: true,
      validatePredefined: false,
      skipProcessEnv: true,
      load: [() => config],
    });
    return {
      module: AppConfigModule,
      imports: [nest],
      providers: [
        { provide: APP_CONFIG, useValue: config },
        { provide: SecretReader, useValue: secrets },
      ],
      exports: [APP_CONFIG, SecretReader],
    };
  }
}
