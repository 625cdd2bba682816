import type { IncomingMessage } from 'node:http';
import { ValidationError } from '../../common/errors/domain-error.js';

export function isMultipart(request: IncomingMessage): boolean {
  return /^\s*multipart\/form-data\s*(;|$)/i.test(request.headers['content-type'] ?? '');
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
