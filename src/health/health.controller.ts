import {
  Catch,
  Controller,
  Get,
  ServiceUnavailableException,
  UseFilters,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import type { Response } from 'express';
import { Readiness } from './readiness.js';

/** Keeps terminus' own report of what is down, which the API's filter would replace. */
@Catch(ServiceUnavailableException)
class UnhealthyFilter implements ExceptionFilter<ServiceUnavailableException> {
  catch(error: ServiceUnavailableException, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(503).json(error.getResponse());
  }
}

/** For orchestrators: `live` says that the process runs, `ready` that it may be given requests. */
@Controller('health')
@UseFilters(UnhealthyFilter)
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly readiness: Readiness,
  ) {}

  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  @Get('ready')
  @HealthCheck({ swaggerDocumentation: false })
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.readiness.process(), () => this.readiness.database()]);
  }
}
