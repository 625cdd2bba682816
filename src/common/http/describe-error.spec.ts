import { BadRequestException, NotFoundException, PayloadTooLargeException } from '@nestjs/common';
import { DomainError, ValidationError, type ErrorCode } from '../errors/domain-error.js';
import { describeError } from './describe-error.js';
import { ERROR_STATUS } from './error-status.js';

class Failure extends DomainError {
  constructor(
    readonly code: ErrorCode,
    readonly retryAfterSeconds?: number,
  ) {
    super('told to the caller');
  }
}

describe('describeError', () => {
  it.each(
    Object.entries(ERROR_STATUS).filter(([code]) => code !== 'INTERNAL_ERROR') as [ErrorCode, number][],
  )('answers %s with %d', (code, status) => {
    expect(describeError(new Failure(code), 'id')).toEqual({
      status,
      body: { code, message: 'told to the caller', data: null },
      headers: {},
      internal: false,
    });
  });

  it('shows the details of a domain error and says when to come back', () => {
    const fields = [{ field: 'a.b', message: 'is required' }];
    expect(describeError(ValidationError.ofFields(fields), 'id').body).toEqual({
      code: 'VALIDATION_FAILED',
      message: 'a.b: is required',
      data: null,
      details: fields,
    });
    expect(describeError(new Failure('RATE_LIMITED', 0.2), 'id').headers).toEqual({ 'Retry-After': '1' });
  });

  it.each([
    [new NotFoundException('Cannot GET /secret'), 404, 'NOT_FOUND'],
    [new BadRequestException('quotes the secret'), 400, 'VALIDATION_FAILED'],
    [new PayloadTooLargeException('secret'), 413, 'PAYLOAD_TOO_LARGE'],
    [Object.assign(new Error('secret'), { status: 413, type: 'entity.too.large' }), 413, 'PAYLOAD_TOO_LARGE'],
    [Object.assign(new Error('secret'), { status: 415 }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [Object.assign(new Error('secret'), { status: 418 }), 418, 'VALIDATION_FAILED'],
    [new URIError('secret'), 400, 'VALIDATION_FAILED'],
  ])('answers what the framework throws, %p, without its message', (error, status, code) => {
    const answer = describeError(error, 'id');
    expect([answer.status, answer.body.code, answer.internal]).toEqual([status, code, false]);
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  it.each([
    new Error('secret: connection to 10.0.0.1 refused'),
    Object.assign(new Error('secret'), { status: 500 }),
    'secret',
    null,
    undefined,
    { status: 404, message: 'secret' },
    new Failure('INTERNAL_ERROR'),
  ])('answers %p with nothing but the correlation id', (error) => {
    expect(describeError(error, 'the-id')).toEqual({
      status: 500,
      body: { code: 'INTERNAL_ERROR', message: 'internal error; correlation id the-id', data: null },
      headers: {},
      internal: true,
    });
  });

  it('answers 503 while the database is away, with nothing of its address', () => {
    const failed = (code: string, syscall: string) =>
      Object.assign(new Error(`${syscall} ${code} 10.0.0.1:5432`), { code, syscall });
    const stopped = Object.assign(new Error('terminating connection'), {
      driverError: undefined,
      code: '57P01',
    });
    for (const error of [
      failed('ECONNREFUSED', 'connect'),
      failed('ENOENT', 'connect'),
      failed('ECONNRESET', 'read'),
      failed('EPIPE', 'write'),
      new Error('Connection terminated unexpectedly'),
      new Error('timeout expired'),
      new Error('timeout exceeded when trying to connect'),
      new Error('Client has encountered a connection error and is not queryable'),
      new Error('Client was closed and is not queryable'),
    ]) {
      const answer = describeError(error, 'c-1');
      expect(answer).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE', data: null } });
      expect(JSON.stringify(answer.body)).not.toContain('10.0.0.1');
    }
    expect(describeError(Object.assign(stopped, { driverError: stopped }), 'c-1').status).toBe(503);
    // A file that is not there is nobody's connection.
    expect(describeError(failed('ENOENT', 'open'), 'c-1').status).toBe(500);
  });
});
