import {
  Inject,
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Observable } from 'rxjs';
import { APP_CONFIG, type AppConfig } from '../../config/app-config.js';
import { DomainError, ValidationError } from '../errors/domain-error.js';
import { PayloadTooLargeError } from '../errors/payload-too-large.error.js';
import { parseJson } from '../json/parse-json.js';
import { OPERATION, type OperationDescription } from '../openapi/operation.js';

const JSON_TYPE = 'application/json';

/** Thrown when a body is neither JSON nor what the route reads itself. */
export class UnsupportedBodyError extends DomainError {
  readonly code = 'UNSUPPORTED_MEDIA_TYPE';
}

/**
 * Reads JSON bodies strictly (decisions 1 and 4): UTF-8 or nothing, no number that would be rounded, bounded size and
 * depth. Interceptors run behind the guards, so a caller without a key costs no parsing. Multipart is left to the
 * routes that take it; any other kind of body is refused. Without a body, and with an empty one, `request.body` stays
 * undefined.
 */
@Injectable()
export class JsonBodyInterceptor implements NestInterceptor {
  readonly #read: RequestHandler;
  readonly #limit: number;
  readonly #maxDepth: number;

  constructor(@Inject(APP_CONFIG) { http }: AppConfig) {
    this.#read = express.raw({ limit: http.bodyLimit, type: () => true });
    this.#limit = http.bodyLimit;
    this.#maxDepth = http.maxJsonDepth;
  }

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const response = context.switchToHttp().getResponse<Response>();
    // What has a body by now, a middleware has read.
    if (request.body === undefined && hasBody(request) && isJson(request, typesTaken(context))) {
      const bytes = await this.#bytes(request, response);
      const text = decode(bytes);
      request.body = text.trim() === '' ? undefined : parseJson(text, { maxDepth: this.#maxDepth });
    }
    return next.handle();
  }

  /** Rejects with a PayloadTooLargeError, or with body-parser's errors, which carry their HTTP status. */
  #bytes(request: Request, response: Response): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      void this.#read(request, response, (error?: unknown) => {
        if (error instanceof Error) reject(isTooLarge(error) ? this.#tooLarge(error) : error);
        else resolve(request.body instanceof Buffer ? request.body : Buffer.alloc(0));
      });
    });
  }

  #tooLarge(cause: Error): PayloadTooLargeError {
    return new PayloadTooLargeError(`http.body-limit (${this.#limit} bytes)`, { cause });
  }
}

function isTooLarge(error: Error): boolean {
  return 'type' in error && error.type === 'entity.too.large';
}

/** The media types that the route takes, as its description says. */
function typesTaken(context: ExecutionContext): string[] {
  const operation = Reflect.getMetadata(OPERATION, context.getHandler()) as OperationDescription | undefined;
  return operation?.body ? Object.keys(operation.body.content) : [JSON_TYPE];
}

function hasBody({ method, headers }: Request): boolean {
  if (method === 'GET' || method === 'HEAD') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** False for multipart. Throws for every other media type and for any charset but UTF-8. */
function isJson({ headers }: Request, taken: readonly string[]): boolean {
  const header = headers['content-type'] ?? '';
  const type = header.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'multipart/form-data') return false;
  if (type !== JSON_TYPE && !/^application\/[\w.-]+\+json$/.test(type)) {
    throw new UnsupportedBodyError(`the body must be ${taken.join(' or ')}`);
  }
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(header)?.[1];
  if (charset && !/^utf-?8$/i.test(charset)) throw new UnsupportedBodyError('a JSON body must be in UTF-8');
  return true;
}

function decode(bytes: Buffer): string {
  try {
    // Takes a byte order mark away.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ValidationError('the body is not valid UTF-8');
  }
}
