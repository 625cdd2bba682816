import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { externalApiDocument } from './external-api/index.js';

/** `/docs` for people, `/docs/openapi.json` for tools; the document is made when it is first asked for. */
export function serveDocumentation(app: NestExpressApplication): void {
  let document: OpenAPIObject | undefined;
  const factory = (): OpenAPIObject => (document ??= externalApiDocument() as unknown as OpenAPIObject);
  SwaggerModule.setup('docs', app, factory, {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
  });
}
