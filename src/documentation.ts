import type { NextFunction, Request, Response } from 'express';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { adminApiDocument } from './admin-api/index.js';
import type { OpenApiDocument } from './common/openapi/index.js';
import { externalApiDocument } from './external-api/index.js';

/** By whichever of its addresses it is asked for, the page finds its parts; Nest's own does so at `/docs` only. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>agent-management: API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/swagger-ui-standalone-preset.js"></script>
    <script src="/docs/swagger-ui-init.js"></script>
  </body>
</html>
`;

const PAGE_PATHS: readonly string[] = ['/docs', '/docs/', '/docs/index.html'];

function servePage(request: Request, response: Response, next: NextFunction): void {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && PAGE_PATHS.includes(request.path)) response.type('html').send(PAGE);
  else next();
}

/**
 * `/docs` for people, with a choice between the two APIs; `/docs/openapi.json` and `/docs/admin-openapi.json` for tools.
 * A document is made when it is first asked for.
 */
export function serveDocumentation(app: NestExpressApplication): void {
  app.use(servePage);
  SwaggerModule.setup('docs', app, once(adminApiDocument), {
    ui: false,
    jsonDocumentUrl: 'docs/admin-openapi.json',
    yamlDocumentUrl: 'docs/admin-openapi.yaml',
  });
  SwaggerModule.setup('docs', app, once(externalApiDocument), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    explorer: true,
    swaggerOptions: {
      urls: [
        { name: '/api/v1', url: '/docs/openapi.json' },
        { name: '/admin/v1', url: '/docs/admin-openapi.json' },
      ],
    },
  });
}

function once(make: () => OpenApiDocument): () => OpenAPIObject {
  let document: OpenAPIObject | undefined;
  return () => (document ??= make() as unknown as OpenAPIObject);
}
