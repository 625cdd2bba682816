import type { AppConfig } from './app-config.js';

/** What is allowed but hardly meant, for the log at the start. */
export function startWarnings({ environment, externalApi, admin }: AppConfig): string[] {
  if (environment !== 'production' || externalApi.keys.length > 0 || admin.apiKeys.length > 0) return [];
  return [
    'no key is configured: nobody can use /admin/v1 (admin.api-keys), and /api/v1 (external-api.keys) only who has a key that was made there',
  ];
}
