import { loadConfig } from './load-config.js';
import { startWarnings } from './start-warnings.js';

function warningsOf(environment: Record<string, string>): string[] {
  return startWarnings(loadConfig({ OWN_KEY: 'x', ...environment }).config);
}

describe('startWarnings', () => {
  it('warns once of production without any key, naming where they are set', () => {
    const warnings = warningsOf({ NODE_ENV: 'production' });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('external-api.keys');
    expect(warnings[0]).toContain('admin.api-keys');
  });

  it.each<[string, Record<string, string>]>([
    ['production with a key of callers', { EXTERNAL_API_KEYS: '[{"name":"a","keyEnv":"OWN_KEY"}]' }],
    [
      'production with a key of administrators',
      { ADMIN_API_KEYS: '[{"name":"a","keyEnv":"OWN_KEY","roles":["admin"]}]' },
    ],
    ['development', { NODE_ENV: 'development', EXTERNAL_API_KEYS: '[]', ADMIN_API_KEYS: '[]' }],
  ])('says nothing of %s', (_what, environment) => {
    expect(warningsOf({ NODE_ENV: 'production', ...environment })).toEqual([]);
  });
});
