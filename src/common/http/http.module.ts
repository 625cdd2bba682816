import { Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR } from '@nestjs/core';
import { ApiExceptionFilter } from './api-exception.filter.js';
import { HttpDrain } from './http-drain.js';
import { JsonBodyInterceptor } from './json-body.interceptor.js';
import { ListeningAddress } from './listening-address.js';

/** What all HTTP APIs share: strict bodies, one filter for errors, the address, an orderly end. */
@Global()
@Module({
  providers: [
    ListeningAddress,
    HttpDrain,
    { provide: APP_FILTER, useClass: ApiExceptionFilter },
    { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
  ],
  exports: [ListeningAddress],
})
export class HttpModule {}
