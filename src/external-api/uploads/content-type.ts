import type { IncomingMessage } from 'node:http';
import { DomainError, ValidationError } from '../../common/errors/domain-error.js';

/** Thrown when a body comes in a type that the route does not take. */
export class UnsupportedMediaTypeError extends DomainError {
  readonly code = 'UNSUPPORTED_MEDIA_TYPE';
}

/** The media type of a request in lower case, without parameters; null without the header. */
export function mediaType(request: IncomingMessage): string | null {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  return type === undefined || type === '' ? null : type;
}

/** The boundary of a multipart request (RFC 2046 §5.1.1: 1 to 70 characters). */
export function multipartBoundary(request: IncomingMessage): string {
  const match = /;\s*boundary=(?:"([^"]*)"|([^\s;]+))/i.exec(request.headers['content-type'] ?? '');
  const boundary = match?.[1] ?? match?.[2] ?? '';
  if (!/^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/.test(boundary)) {
    throw new ValidationError('the multipart content type has no valid boundary');
  }
  return boundary;
}
