import type { NestExpressApplication } from '@nestjs/platform-express';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';

/** `/docs` for people, `/docs/openapi.json` for tools; the document is made when it is first asked for. */
export function serveDocumentation(app: NestExpressApplication): void {
  let document: OpenAPIObject | undefined;
  const settings = new DocumentBuilder()
    .setTitle('agent-management')
    .setDescription('Runs agent workflows: integrators call /api/v1, administrators /admin/v1.')
    .setVersion('1')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'api-key')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-Admin-Key' }, 'admin-key')
    .build();
  const factory = (): OpenAPIObject => (document ??= SwaggerModule.createDocument(app, settings));
  SwaggerModule.setup('docs', app, factory, {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
  });
}
