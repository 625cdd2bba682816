import { Module } from '@nestjs/common';
import { AdminAuthModule } from '../admin-api/auth/index.js';
import { ApiKeysModule } from '../api-keys/index.js';
import { MetricsController } from './metrics.controller.js';
import { Metrics } from './metrics.js';
import { RefusedKeys } from './refused-keys.js';

@Module({
  imports: [AdminAuthModule, ApiKeysModule],
  controllers: [MetricsController],
  providers: [Metrics, RefusedKeys],
  exports: [Metrics],
})
export class MetricsModule {}
