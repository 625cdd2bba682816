import { buildDocument, type OpenApiDocument } from '../../common/openapi/index.js';
import { externalApiControllers } from '../external-api-controllers.js';

/** The OpenAPI 3.1 document of `/api/v1`, written from its controllers. */
export function externalApiDocument(): OpenApiDocument {
  return buildDocument(
    {
      title: 'agent-management',
      version: '1',
      description:
        'Runs agent workflows: create a run, start it, follow its events, take its result and files.',
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
      tags: [
        { name: 'Workflows', description: 'What can be run' },
        { name: 'Runs', description: 'Runs of a workflow' },
      ],
      apiKey: { scheme: 'apiKey', header: 'X-API-Key' },
    },
    externalApiControllers,
  );
}
