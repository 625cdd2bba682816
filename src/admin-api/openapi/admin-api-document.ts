import type { Type } from '@nestjs/common';
import { buildDocument, type OpenApiDocument } from '../../common/openapi/index.js';
import { adminApiControllers } from '../admin-api-controllers.js';
import { rolesOf } from '../auth/index.js';

/** The OpenAPI 3.1 document of `/admin/v1`, written from its controllers. */
export function adminApiDocument(): OpenApiDocument {
  return buildDocument(
    {
      title: 'agent-management: administration',
      version: '1',
      description: 'Workflows, agents, keys, and what operators want to know of them.',
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
      tags: [
        { name: 'Workflows', description: 'Definitions and their versions' },
        { name: 'API keys', description: 'Keys of /api/v1' },
        { name: 'Runs', description: 'Runs of all workflows' },
        { name: 'Agents', description: 'System agents, their versions, slots and invocations' },
        { name: 'Calls and usage', description: 'What was sent to agent runtimes, and what it cost' },
        { name: 'Credentials', description: 'Secrets by reference' },
        { name: 'Audit', description: 'Who changed what' },
      ],
      apiKey: { scheme: 'adminKey', header: 'X-Admin-Key' },
      note: rolesNote,
    },
    adminApiControllers,
  );
}

function rolesNote(handler: object, controller: Type): string {
  return `Roles: ${[...rolesOf(handler, controller), 'admin'].map((role) => `\`${role}\``).join(', ')}.`;
}
