/**
 * The directions of docs/architecture.md, checked: `npm run boundaries`, part of `npm test`.
 *
 *   external-api, admin-api, gateway -> engine -> runtime-adapters, context-query -> runs, workflows, events
 *     -> database, config, common
 */
const contexts = (...names) => `^src/(${names.join('|')})/`;

/** From the bottom to the top; a context imports none that stands above it. */
const LAYERS = [
  ['common', 'config', 'database'],
  ['audit', 'credentials', 'api-keys', 'workflows', 'events', 'runs', 'callbacks'],
  ['runtime-adapters', 'context-query', 'agents', 'knowledge', 'candidates'],
  ['engine'],
  ['external-api', 'admin-api', 'gateway', 'health', 'metrics'],
];

const layerRules = LAYERS.slice(0, -1).map((layer, at) => ({
  name: `layer-${layer[0]}-imports-nothing-above`,
  severity: 'error',
  comment: 'Dependencies point downwards only.',
  from: {
    path: contexts(...layer),
    // The data source names every context's entities, and the command line starts it.
    pathNot: '^src/database/data-source\\.ts$|\\.spec\\.ts$',
  },
  to: { path: contexts(...LAYERS.slice(at + 1).flat()) },
}));

export default {
  forbidden: [
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'Files that need each other are one thing cut in the wrong place.',
      from: {},
      to: { circular: true },
    },
    ...layerRules,
    {
      name: 'controllers-are-entrances',
      severity: 'error',
      comment:
        'Only modules, and the lists they take them from, name controllers; what two share is a use case.',
      from: { pathNot: '\\.module\\.ts$|-controllers\\.ts$|\\.spec\\.ts$' },
      to: { path: '\\.controller\\.ts$' },
    },
    {
      name: 'bridge-stands-alone',
      severity: 'error',
      comment:
        'The bridge is a process of its own: of the server it knows the protocol types, how JSON is read and how time runs out.',
      from: { path: '^src/bridge/' },
      to: {
        path: '^src/',
        pathNot:
          '^src/bridge/|^src/runtime-adapters/protocol/|^src/common/json/(?!parse-json)|^src/common/time/',
      },
    },
    {
      name: 'bridge-is-not-imported',
      severity: 'error',
      comment: 'The server starts the bridge and speaks its protocol; it runs none of its code.',
      from: { path: '^src/', pathNot: '^src/bridge/|\\.spec\\.ts$' },
      to: { path: '^src/bridge/', pathNot: '^src/bridge/protocol\\.ts$' },
    },
    {
      name: 'graph-is-plain-typescript',
      severity: 'error',
      comment: 'The graph model and its rules run without the framework.',
      from: { path: '^src/workflows/(graph|templates|conditions)/' },
      to: { path: '^node_modules/(@nestjs|typeorm)/' },
    },
    {
      name: 'only-nest-wires',
      severity: 'error',
      comment: "The engine's walks are plain TypeScript.",
      from: { path: '^src/engine/(walks|nodes)/' },
      to: { path: '^node_modules/@nestjs/' },
    },
    {
      name: 'one-reader-of-the-environment',
      severity: 'error',
      comment: 'Configuration is validated once; nobody reads files of it elsewhere.',
      from: { path: '^src/', pathNot: '^src/(config|main\\.ts|database/commands)|\\.spec\\.ts$' },
      to: { path: '^src/config/load-config\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'declared-dependencies',
      severity: 'error',
      comment: 'What is imported is in package.json.',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'], pathNot: '^node_modules/@types/' },
    },
    {
      name: 'sources-import-no-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^test/|\\.spec\\.ts$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
