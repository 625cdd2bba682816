import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import multer, { MulterError } from 'multer';
import { DomainError, ValidationError } from '../../common/errors/domain-error.js';
import { parseJson } from '../../common/json/parse-json.js';
import { APP_CONFIG, type AppConfig } from '../../config/app-config.js';

/** Thrown when an uploaded document is larger than `http.body-limit`. */
export class DocumentTooLargeError extends DomainError {
  readonly code = 'PAYLOAD_TOO_LARGE';
  constructor(readonly limitBytes: number) {
    super(`the file is larger than http.body-limit (${limitBytes} bytes)`);
  }
}

/** Takes a JSON document from a request: its body, or the part `file` of a multipart upload. */
@Injectable()
export class ReceiveDocument {
  constructor(@Inject(APP_CONFIG) private readonly config: AppConfig) {}

  /** Throws ValidationError, DocumentTooLargeError. */
  async execute(request: Request, response: Response): Promise<unknown> {
    if (!request.is('multipart/form-data')) {
      if (request.body !== undefined) return request.body as unknown;
      throw new ValidationError('a JSON document is required, as the body or as the multipart part `file`');
    }
    const bytes = await this.#upload(request, response);
    return parseJson(utf8(bytes), { maxDepth: this.config.http.maxJsonDepth });
  }

  #upload(request: Request, response: Response): Promise<Buffer> {
    const { bodyLimit } = this.config.http;
    const limits = {
      fileSize: bodyLimit,
      files: 1,
      fields: 10,
      fieldSize: 1_000,
      parts: 11,
      headerPairs: 20,
    };
    const receive = multer({ storage: multer.memoryStorage(), limits }).single('file');
    return new Promise((resolve, reject) => {
      receive(request, response, (error: unknown) => {
        if (error instanceof MulterError && error.code === 'LIMIT_FILE_SIZE') {
          reject(new DocumentTooLargeError(bodyLimit));
        } else if (error) {
          const why = error instanceof Error ? `: ${error.message}` : '';
          reject(new ValidationError(`the upload cannot be read${why}`, { cause: error }));
        } else if (request.file) {
          resolve(request.file.buffer);
        } else {
          reject(ValidationError.ofFields([{ field: 'file', message: 'is required' }]));
        }
      });
    });
  }
}

function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw ValidationError.ofFields([{ field: 'file', message: 'is not valid UTF-8' }]);
  }
}
