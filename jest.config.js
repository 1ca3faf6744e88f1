const common = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  setupFiles: ['<rootDir>/test/support/load-nest.js'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2024',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
        module: { type: 'es6' },
        sourceMaps: true,
      },
    ],
  },
};

const chosen = process.env.STARLING_TEST_DATABASE;

/** Without the names of files, `npm test` runs all suites but the long ones, each on one database. */
const isWhole = process.argv.slice(2).every((argument) => argument.startsWith('-'));

/** Suites that use any database can run on both. A suite about SQLite, or about Postgres, says so in its name. */
const ON_A_DATABASE = [
  'attack',
  'batches',
  'blackboard',
  'contract',
  'database/upgrade',
  'e2e',
  'faults',
  'idempotency',
  'retention',
];

/**
 * `npm test` covers every feature once, on Postgres those that only several processes have. `npm run test:postgres` runs
 * all suites there that use a database, and those about Postgres itself.
 */
const onPostgres =
  isWhole && !chosen
    ? ['e2e/**/*.postgres.spec.ts']
    : [...ON_A_DATABASE.map((folder) => `${folder}/**/*.spec.ts`), '**/*.postgres.spec.ts'];

const SPECS = {
  sqlite: { of: ['**/*.spec.ts'], without: ['**/*.postgres.spec.ts'] },
  postgres: { of: onPostgres, without: ['**/*.sqlite.spec.ts'] },
};

/**
 * Long suites have separate commands, such as `npm run test:dashboard`, `npm run test:docs` and `npm run test:attack`,
 * which needs the machine for itself.
 */
const APART = [
  'attack/**',
  'clients/**',
  'dashboard/views/**',
  'dashboard/whole-app/**',
  'docs/pages.spec.ts',
  'example/batch.spec.ts',
  'example/example-tests.spec.ts',
  'faults/**',
  'first-hour/**',
  'install/**',
];

function specsOf(database) {
  const { of, without } = SPECS[database];
  const excluded = isWhole ? [...without, ...APART] : without;
  return {
    testMatch: [...of.map((spec) => `<rootDir>/test/${spec}`), ...excluded.map((spec) => `!**/test/${spec}`)],
  };
}

const projects = {
  sqlite: { ...common, displayName: 'sqlite', globals: { TEST_DATABASE: 'sqlite' }, ...specsOf('sqlite') },
  postgres: {
    ...common,
    displayName: 'postgres',
    globals: { TEST_DATABASE: 'postgres' },
    ...specsOf('postgres'),
    globalSetup: '<rootDir>/test/support/postgres-setup.js',
    globalTeardown: '<rootDir>/test/support/postgres-teardown.js',
  },
};

if (chosen && !Object.hasOwn(projects, chosen))
  throw new Error(`STARLING_TEST_DATABASE: must be sqlite or postgres, or not set for both (got "${chosen}")`);

/** @type {import('jest').Config} */
export default {
  reporters: ['default', '<rootDir>/test/support/summary-reporter.js'],
  testSequencer: '<rootDir>/test/support/longest-first.js',
  // Stops tests that hang. No test should take as long, and a busy machine must not fail one.
  testTimeout: 300_000,
  // On two cores Jest would use one worker, and most of these tests wait for a database or a process.
  maxWorkers: 3,
  // The memory of earlier suites in a worker would make each garbage collection take a second, which some tests measure.
  workerIdleMemoryLimit: '700MB',
  projects: chosen ? [projects[chosen]] : Object.values(projects),
};
