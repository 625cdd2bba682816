import {
  Body,
  Controller,
  HttpCode,
  Param,
  Post,
  Req,
  Res,
  UseGuards,
  type OnModuleDestroy,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { InvokeAgent, invocationSchema, type Invocation, type RequestedBy } from '../../agents/index.js';
import { DomainError } from '../../common/errors/domain-error.js';
import { ok, ZodPipe, type Envelope } from '../../common/http/index.js';
import { Describe } from '../../common/openapi/index.js';
import type { AgentRuntimeEvent } from '../../runtime-adapters/protocol/agent-runtime-event.js';
import { AdminKeyGuard, ChangedBy, Roles } from '../auth/index.js';
import { invokeAgent } from '../openapi/agent-operations.js';
import { eventFrame, invocationAnswer, type InvocationAnswer } from './invocation-answer.js';

/** A comment at least that often keeps proxies from closing a silent stream. */
const HEARTBEAT_MILLIS = 15_000;

/** How far a client may be behind. Waiting for it would hold the call, and its deadline would pass unrecorded. */
const MAX_BEHIND_BYTES = 8 * 1024 * 1024;

/** Thrown to those who wait for a call when the server stops; the call itself is stopped or recovered. */
class StoppingError extends DomainError {
  readonly code = 'SERVICE_UNAVAILABLE';
}

/**
 * `POST /admin/v1/agents/{agentKey}/invocations`: one call of an agent. It goes on when the caller leaves: the same
 * command asks for its end again.
 */
@Controller('admin/v1/agents/:agentKey/invocations')
@UseGuards(AdminKeyGuard)
export class InvocationsController implements OnModuleDestroy {
  readonly #stopping = new AbortController();

  constructor(private readonly invokeAgent: InvokeAgent) {}

  onModuleDestroy(): void {
    this.#stopping.abort(new StoppingError('the server stops; the same command asks for its end again'));
  }

  @Describe(invokeAgent)
  @Post()
  @HttpCode(200)
  @Roles('editor')
  async invoke(
    @Param('agentKey') agentKey: string,
    @Body(new ZodPipe(invocationSchema)) body: Invocation,
    @ChangedBy() by: RequestedBy,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Envelope<InvocationAnswer> | undefined> {
    const events = await this.invokeAgent.execute(agentKey, body, by, this.#stopping.signal);
    if (wantsStream(request)) {
      await stream(body.commandId, events, response);
      return undefined;
    }
    for await (const event of events) {
      if ('response' in event) return ok(invocationAnswer(body.commandId, event.response));
    }
    throw new Error('the runtime ended without a response');
  }
}

function wantsStream(request: Request): boolean {
  return request.accepts(['application/json', 'text/event-stream']) === 'text/event-stream';
}

/** Headers go out with the first event: until then an error is an ordinary answer. */
async function stream(
  commandId: string,
  events: AsyncIterable<AgentRuntimeEvent>,
  response: Response,
): Promise<void> {
  // A client that leaves in mid-write is no error of ours.
  response.on('error', () => undefined);
  let heartbeat: NodeJS.Timeout | null = null;
  try {
    for await (const event of events) {
      if (!response.headersSent) {
        response.writeHead(200, {
          'Content-Type': 'text/event-stream',
          'Cache-Control': 'no-cache, no-transform',
          'X-Accel-Buffering': 'no',
        });
        heartbeat = setInterval(() => write(response, ': heartbeat\n\n'), HEARTBEAT_MILLIS);
      }
      write(response, eventFrame(commandId, event));
    }
  } catch (error) {
    if (!response.headersSent) throw error;
    // The status line is out: a stream that breaks off is how the client hears of it.
    response.destroy(error instanceof Error ? error : undefined);
  } finally {
    if (heartbeat) clearInterval(heartbeat);
    if (response.headersSent && !response.writableEnded) response.end();
  }
}

/** Does nothing once the client has left; one that is too far behind is cut off, and may ask again by its command. */
function write(response: Response, frame: string): void {
  if (response.destroyed || response.writableEnded) return;
  if (response.writableLength > MAX_BEHIND_BYTES) response.destroy();
  else response.write(frame);
}
