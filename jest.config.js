const LOAD_TYPESCRIPT = '<rootDir>/test/support/load-typescript.js';

const common = {
  // Runs the suites of a worker in one module system, Node's own. Jest's runner gives each suite its own, which loads
  // everything again for it, and in which all code runs slower: together 1.7 times the CPU time.
  runner: '<rootDir>/test/support/runner.js',
  transform: {},
  roots: ['<rootDir>/test'],
  moduleFileExtensions: ['ts', 'js'],
  setupFilesAfterEnv: ['own-fetch', 'early-ends', 'fresh-suite'].map((name) => `<rootDir>/test/support/${name}.js`),
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
  'cli/{command-line,dev,file-modes,npx,serve,stop,typed-client}.spec.ts',
  'cli/init/**',
  'clients/**',
  'dashboard/views/**',
  'dashboard/whole-app/**',
  'deploy/{exported-types,package}.spec.ts',
  'docs/pages.spec.ts',
  'e2e/{ramp-replicas,replicas-experiments,replicas-replay-configurations}.postgres.spec.ts',
  'example/batch.spec.ts',
  'example/example-tests.spec.ts',
  'expressions/limits.spec.ts',
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
  sqlite: {
    ...common,
    displayName: 'sqlite',
    setupFiles: [LOAD_TYPESCRIPT, '<rootDir>/test/support/on-sqlite.js'],
    ...specsOf('sqlite'),
  },
  postgres: {
    ...common,
    displayName: 'postgres',
    setupFiles: [LOAD_TYPESCRIPT, '<rootDir>/test/support/on-postgres.js'],
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
  // On two cores Jest would use one worker, and most of these tests wait for a database or a process.
  maxWorkers: 3,
  projects: chosen ? [projects[chosen]] : Object.values(projects),
};
