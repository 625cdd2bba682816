import { createHash } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { ValidationError } from '../../common/errors/domain-error.js';
import { multipartBoundary } from './content-type.js';
import { readPartHeader, type RawPartHeaders } from './part-header.js';
import { PayloadTooLargeError } from '../../common/errors/payload-too-large.error.js';
import { normalizeRelativePath } from './relative-path.js';

/** Limits of an upload; each one exceeded is a 413 that names it. */
export interface UploadLimits {
  /** Bytes of one file. */
  fileBytes: number;
  /** Bytes of all files together. */
  totalBytes: number;
  files: number;
  /** Bytes of the `payload` part. */
  fieldBytes: number;
}

/** A file that has arrived, in the staging folder under its relative path. */
export interface ReceivedFile {
  path: string;
  bytes: number;
  /** Of its content, in hex. */
  sha256: string;
}

export interface Upload {
  /** The text of the `payload` part; null when there was none. */
  payload: string | null;
  files: ReceivedFile[];
}

/** Headers of one part may not take more; Dicer itself cuts silently at 80 KB. */
const MAX_PART_HEADER_BYTES = 16 * 1024;

/**
 * Refuses at once what says by itself that it is too long. Headers and boundaries count generously: what is over the
 * limit by less is found out by `receiveUpload`.
 */
export function refuseLongUpload(request: IncomingMessage, limits: UploadLimits): void {
  const { totalBytes, fieldBytes, files } = limits;
  const most = totalBytes + fieldBytes + (files + 1) * MAX_PART_HEADER_BYTES;
  if (Number(request.headers['content-length'] ?? 0) <= most) return;
  throw new PayloadTooLargeError(`external-api.limits.total-bytes (${totalBytes} bytes)`);
}

/**
 * Streams a multipart body into the folder `staged` (contract.md): at most one `payload` part and any number of
 * `files`, in any order. Throws a ValidationError for a malformed or truncated body, a path that is refused, and
 * a client that went away. The caller removes the folder when this throws.
 */
export async function receiveUpload(
  request: IncomingMessage,
  staged: string,
  limits: UploadLimits,
): Promise<Upload> {
  const dicer = new Dicer({ boundary: multipartBoundary(request), maxHeaderPairs: 50 });
  const receiver = new PartReceiver(staged, limits);
  let announced = 0;
  let begun = 0;
  let parts: Promise<void> = Promise.resolve();
  try {
    await new Promise<void>((resolve, reject) => {
      dicer.on('part', (part: Readable) => {
        announced += 1;
        // Without a listener, a part cut off before it is read would end the process.
        part.on('error', () => undefined);
        part.once('header', (headers: RawPartHeaders) => {
          begun += 1;
          parts = parts.then(() => receiver.receive(headers, part));
          parts.catch(reject);
        });
      });
      dicer.once('finish', resolve);
      dicer.once('error', () => reject(new ValidationError('the multipart body is truncated or malformed')));
      request.once('error', () => reject(new ValidationError('the request was cut off')));
      request.once('close', () => {
        if (!request.complete) reject(new ValidationError('the request was cut off'));
      });
      request.pipe(dicer);
    });
    // A part whose headers never ended is announced but cannot be read.
    if (begun !== announced) throw new ValidationError('a part of the multipart body has no headers');
    await parts;
  } catch (error) {
    request.unpipe(dicer);
    // Nothing may be written any more when the caller removes the folder.
    receiver.abort();
    await receiver.settled();
    throw error;
  }
  return { payload: receiver.payload, files: receiver.files };
}

/** Takes the parts of one body, one after the other. */
class PartReceiver {
  payload: string | null = null;
  readonly files: ReceivedFile[] = [];
  readonly #folders = new Set<string>();
  readonly #paths = new Set<string>();
  readonly #staged: string;
  readonly #limits: UploadLimits;
  #totalBytes = 0;
  #reading: Readable | null = null;
  #writing: Promise<unknown> = Promise.resolve();
  #aborted = false;

  constructor(staged: string, limits: UploadLimits) {
    this.#staged = staged;
    this.#limits = limits;
  }

  async receive(headers: RawPartHeaders, part: Readable): Promise<void> {
    if (this.#aborted) return;
    this.#reading = part;
    const received = this.#take(headers, part);
    this.#writing = received.catch(() => undefined);
    await received;
    this.#reading = null;
  }

  abort(): void {
    this.#aborted = true;
    this.#reading?.destroy();
  }

  async settled(): Promise<void> {
    await this.#writing;
  }

  async #take(headers: RawPartHeaders, part: Readable): Promise<void> {
    if (headerBytes(headers) > MAX_PART_HEADER_BYTES) {
      throw new PayloadTooLargeError(`headers of one part (${MAX_PART_HEADER_BYTES} bytes)`);
    }
    const { name, path: filePath } = readPartHeader(headers);
    if (name === 'payload') {
      if (this.payload !== null) throw new ValidationError('the multipart body has more than one payload');
      this.payload = await this.#readText(part);
    } else if (name !== 'files') {
      throw new ValidationError(`unknown part ${JSON.stringify(name)}; parts are named payload and files`);
    } else if (filePath === null) {
      throw new ValidationError('a files part has no file name');
    } else {
      await this.#storeFile(normalizeRelativePath(filePath), part);
    }
  }

  async #readText(part: Readable): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of part as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > this.#limits.fieldBytes) {
        throw new PayloadTooLargeError(`external-api.limits.field-bytes (${this.#limits.fieldBytes} bytes)`);
      }
      chunks.push(chunk);
    }
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    } catch {
      throw new ValidationError('the payload is not valid UTF-8');
    }
  }

  async #storeFile(relative: string, part: Readable): Promise<void> {
    this.#claim(relative);
    if (this.files.length >= this.#limits.files) {
      throw new PayloadTooLargeError(`external-api.limits.files (${this.#limits.files} files)`);
    }
    const target = path.join(this.#staged, relative);
    await mkdir(path.dirname(target), { recursive: true });
    const hash = createHash('sha256');
    const file = await open(target, 'wx', 0o644);
    let bytes = 0;
    try {
      for await (const chunk of part as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        this.#count(chunk.length, bytes);
        hash.update(chunk);
        await file.write(chunk);
      }
    } finally {
      await file.close();
    }
    this.files.push({ path: relative, bytes, sha256: hash.digest('hex') });
  }

  #count(added: number, fileBytes: number): void {
    this.#totalBytes += added;
    if (fileBytes > this.#limits.fileBytes) {
      throw new PayloadTooLargeError(`external-api.limits.file-bytes (${this.#limits.fileBytes} bytes)`);
    }
    if (this.#totalBytes > this.#limits.totalBytes) {
      throw new PayloadTooLargeError(`external-api.limits.total-bytes (${this.#limits.totalBytes} bytes)`);
    }
  }

  /** Refuses a second file at a path, and a file where another one needs a folder. */
  #claim(relative: string): void {
    const shown = JSON.stringify(relative);
    const refuse = (why: string): never => {
      throw ValidationError.ofFields([{ field: 'files', message: `the path ${shown} ${why}` }]);
    };
    if (this.#paths.has(relative)) refuse('is used twice');
    if (this.#folders.has(relative)) refuse('is a file and a folder');
    this.#paths.add(relative);
    for (let folder = path.posix.dirname(relative); folder !== '.'; folder = path.posix.dirname(folder)) {
      if (this.#paths.has(folder)) refuse('lies below a file');
      this.#folders.add(folder);
    }
  }
}

function headerBytes(headers: RawPartHeaders): number {
  let bytes = 0;
  for (const [name, values = []] of Object.entries(headers)) {
    for (const value of values) bytes += name.length + value.length;
  }
  return bytes;
}
