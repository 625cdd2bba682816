import { Module } from '@nestjs/common';
import { AdminKeyGuard } from './admin-key.guard.js';
import { AdminKeys } from './admin-keys.js';

/** Import it where controllers of `/admin/v1` stand: `@UseGuards(AdminKeyGuard)`, `@Roles(…)`, `@CurrentAdmin()`. */
@Module({ providers: [AdminKeys, AdminKeyGuard], exports: [AdminKeys, AdminKeyGuard] })
export class AdminAuthModule {}
