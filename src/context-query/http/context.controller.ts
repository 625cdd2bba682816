import { Body, Controller, Inject, Post, Res, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { ContextQueryError } from '../queries/context-query-error.js';
import { queryMeta } from '../queries/query-meta.js';
import { queryOutput } from '../queries/query-output.js';
import { queryPath } from '../queries/query-path.js';
import { VISIT_SOURCE, type VisitSource } from '../queries/visit-source.js';
import type { ContextTokenHolder } from '../tokens/context-tokens.js';
import { ContextErrorFilter } from './context-error.filter.js';
import {
  metaRequest,
  outputRequest,
  pathRequest,
  type MetaRequest,
  type OutputRequest,
  type PathRequest,
} from './context-request.js';
import { ContextTokenGuard, TokenHolder } from './context-token.guard.js';
import { ContextBody } from './context-body.pipe.js';
import { sendResult } from './result.js';

/** What agents ask about the visits before them (internal-context-query.md §2), each with its visit's token. */
@ApiExcludeController()
@Controller('internal/context')
@UseGuards(ContextTokenGuard)
@UseFilters(ContextErrorFilter)
export class ContextController {
  constructor(@Inject(VISIT_SOURCE) private readonly source: VisitSource) {}

  @Post('path')
  async path(
    @TokenHolder() holder: ContextTokenHolder,
    @Body(new ContextBody(pathRequest)) { runId, visitUuid }: PathRequest,
    @Res() response: Response,
  ): Promise<void> {
    sameRun(holder, runId);
    succeed(response, await queryPath(this.source, holder, { visitUuid }));
  }

  @Post('output')
  async output(
    @TokenHolder() holder: ContextTokenHolder,
    @Body(new ContextBody(outputRequest)) { runId, query }: OutputRequest,
    @Res() response: Response,
  ): Promise<void> {
    sameRun(holder, runId);
    succeed(response, await queryOutput(this.source, holder, query));
  }

  @Post('meta')
  async meta(
    @TokenHolder() holder: ContextTokenHolder,
    @Body(new ContextBody(metaRequest)) { runId, query }: MetaRequest,
    @Res() response: Response,
  ): Promise<void> {
    sameRun(holder, runId);
    succeed(response, await queryMeta(this.source, holder, query));
  }
}

function sameRun(holder: ContextTokenHolder, runId: string): void {
  if (runId !== holder.runId) throw new ContextQueryError(403, 'the token belongs to another run');
}

function succeed(response: Response, data: object): void {
  sendResult(response, { code: 200, message: 'success', data });
}
