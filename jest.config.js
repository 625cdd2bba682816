/**
 * One jest configuration for all suites; `scripts/test.js` and the `test:*` commands choose by path.
 * Sources are TypeScript ES modules, compiled by swc; the mapper drops the `.js` that nodenext imports carry.
 */
const shared = {
  testEnvironment: '<rootDir>/test/support/leak-environment.js',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
        module: { type: 'es6' },
      },
    ],
  },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
};

/** For suites on a real PostgreSQL: test/support/test-database.ts. */
const postgres = {
  globalSetup: '<rootDir>/test/support/postgres/global-setup.js',
  globalTeardown: '<rootDir>/test/support/postgres/global-teardown.js',
};

/** For suites that start the real server: dist/ is brought up to date as well. */
const built = { ...postgres, globalSetup: '<rootDir>/test/support/postgres/global-setup-built.js' };

export default {
  // Only so that a hanging test ends: the machine may be slow and shared.
  testTimeout: 60_000,
  projects: [
    { ...shared, displayName: 'unit', testMatch: ['<rootDir>/src/**/*.spec.ts'] },
    {
      ...shared,
      ...postgres,
      displayName: 'integration',
      testMatch: ['<rootDir>/test/{integration,contract}/**/*.spec.ts'],
    },
    { ...shared, ...built, displayName: 'e2e', testMatch: ['<rootDir>/test/e2e/**/*.spec.ts'] },
    { ...shared, ...built, displayName: 'faults', testMatch: ['<rootDir>/test/faults/**/*.spec.ts'] },
    { ...shared, ...postgres, displayName: 'load', testMatch: ['<rootDir>/test/load/**/*.spec.ts'] },
    { ...shared, ...built, displayName: 'cluster', testMatch: ['<rootDir>/test/cluster/**/*.spec.ts'] },
  ],
};
