import { join } from 'node:path';
import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LOGGER, type Logger } from '../common/logging/logger.js';
import { APP_CONFIG, type AppConfig } from '../config/app-config.js';
import { SecretRedactor } from '../credentials/index.js';
import { AnchorAfterCommit } from './anchor-after-commit.js';
import { AnchorFile } from './anchor-file.js';
import { AuditLog } from './audit-log.js';
import { AuditTrail } from './audit-trail.js';
import { VerifyAuditChain } from './verify-audit-chain.js';

/** Wires the audit chain; heads are anchored under `DATA_DIR/audit/`. */
@Module({
  providers: [
    {
      provide: AnchorFile,
      inject: [APP_CONFIG],
      useFactory: (config: AppConfig) => new AnchorFile(join(config.dataDir, 'audit')),
    },
    {
      provide: AuditLog,
      inject: [SecretRedactor],
      useFactory: (redactor: SecretRedactor) => new AuditLog(redactor),
    },
    { provide: AuditTrail, inject: [DataSource], useFactory: (source: DataSource) => new AuditTrail(source) },
    {
      provide: VerifyAuditChain,
      inject: [DataSource, AnchorFile],
      useFactory: (source: DataSource, anchors: AnchorFile) => new VerifyAuditChain(source, anchors),
    },
  ],
  exports: [AuditLog, AuditTrail, VerifyAuditChain],
})
export class AuditModule implements OnModuleInit {
  constructor(
    private readonly dataSource: DataSource,
    private readonly anchors: AnchorFile,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    const report = (error: unknown): void => {
      this.logger.error({ err: error }, "the audit chain's head could not be anchored under DATA_DIR/audit");
    };
    this.dataSource.subscribers.push(new AnchorAfterCommit(this.anchors, report));
  }
}
