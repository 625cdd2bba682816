import { rm } from 'node:fs/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Request } from 'express';
import type { JsonValue } from '../../common/json/json-value.js';
import { parseJson } from '../../common/json/parse-json.js';
import { APP_CONFIG, type AppConfig } from '../../config/app-config.js';
import { Workspaces } from '../../runs/workspaces/workspaces.js';
import { isJsonObject } from '../http/json-object.js';
import { isMultipart } from '../uploads/content-type.js';
import { PayloadTooLargeError } from '../../common/errors/payload-too-large.error.js';
import { receiveUpload, refuseLongUpload, type ReceivedFile } from '../uploads/receive-upload.js';

/** The body of a creation, its files already on disk. */
export interface RunBody {
  /** Parsed JSON, not yet validated. */
  json: JsonValue;
  files: ReceivedFile[];
  /** The folder with the files; null when there are none. */
  staged: string | null;
}

/** Reads the body of a creation: JSON, or multipart with files. */
@Injectable()
export class ReadRunBody {
  readonly #log = new Logger(ReadRunBody.name);

  constructor(
    @Inject(APP_CONFIG) private readonly config: AppConfig,
    private readonly workspaces: Workspaces,
  ) {}

  /**
   * Hands the body to `use` and removes the staged files afterwards, unless `use` has made them a workspace.
   * Throws a ValidationError or a PayloadTooLargeError.
   */
  async execute<T>(request: Request, use: (body: RunBody) => Promise<T>): Promise<T> {
    if (isMultipart(request)) return this.#multipart(request, use);
    // JsonBodyInterceptor has read it, or refused what is no JSON.
    const json = (request.body as JsonValue | undefined) ?? {};
    this.#checkSize(request, json);
    return use({ json, files: [], staged: null });
  }

  /** What is below the limit as it was sent is below it. */
  #checkSize({ headers }: Request, json: JsonValue): void {
    const { variableBytes } = this.config.externalApi.limits;
    if (Number(headers['content-length'] ?? Infinity) <= variableBytes || !isJsonObject(json)) return;
    if (Buffer.byteLength(JSON.stringify(json.variables ?? null)) > variableBytes) {
      throw new PayloadTooLargeError(`external-api.limits.variable-bytes (${variableBytes} bytes)`);
    }
  }

  async #multipart<T>(request: Request, use: (body: RunBody) => Promise<T>): Promise<T> {
    const { limits } = this.config.externalApi;
    refuseLongUpload(request, limits);
    const staged = await this.workspaces.stage();
    try {
      const { payload, files } = await receiveUpload(request, staged, limits);
      const json = payload === null ? {} : parseJson(payload, { maxDepth: this.config.http.maxJsonDepth });
      return await use({ json, files, staged });
    } finally {
      // What has been adopted is no longer here.
      await rm(staged, { recursive: true, force: true }).catch((error: unknown) =>
        this.#log.warn(`staged files were left in ${staged}: ${String(error)}`),
      );
    }
  }
}
