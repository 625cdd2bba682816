import 'reflect-metadata';
import { Body, Controller, HttpCode, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';

/** A Nest POST on Express that parses JSON and answers as the creation of a run does, and stores nothing. */
@Controller('runs')
class RunsController {
  @Post()
  @HttpCode(201)
  create(@Body() body: { variables?: unknown }) {
    const runId = 'a'.repeat(20);
    const result = `/api/v1/workflows/bench/runs/${runId}`;
    return {
      code: 'OK',
      message: '',
      data: {
        runId,
        workflowId: 1,
        workflowName: 'bench',
        displayName: 'bench',
        status: body.variables === undefined ? '' : 'CREATED',
        createdAt: new Date(),
        links: {
          start: `${result}/start`,
          stream: `${result}/stream`,
          result,
          workspace: `${result}/workspace`,
        },
      },
    };
  }
}

@Module({ controllers: [RunsController] })
class BareModule {}

const app = await NestFactory.create<NestExpressApplication>(BareModule, { logger: false });
await app.listen(0, '127.0.0.1');
process.send?.({ port: (app.getHttpServer().address() as AddressInfo).port, path: '/runs' });
process.on('message', () => process.exit(0));
