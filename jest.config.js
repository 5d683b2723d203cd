/**
 * What `npm test` leaves out, for a verdict in a few minutes: programs that are started and killed, deaths at each
 * statement, faults of others, costs of statements, a browser, random plans, the image, and single files that take
 * longest. `npm run test:all` runs everything, and what depends on the store on both stores.
 */
const isQuick = process.env['QUICK'] === '1';
const whole = [
  '<rootDir>/test/(browser|chaos|costs|crash|embedded-temporal|faults|imports|properties|real-servers|system)/',
  '<rootDir>/test/scenarios/(alert-rules|estimate|parity-files|s3)\\.test',
  '<rootDir>/test/conformance/sinks/(file|s3)\\.test',
  '<rootDir>/(importing/files/xlsx/archive|sandbox/flat-memory|sinks/file/paused-holder)\\.test',
  '<rootDir>/(operations/export/libreoffice|cli/exit-codes|cli/signals|cli/commands/backup|ledger/drivers/embedded|operations/backup/backup)\\.test',
];

const shared = {
  testEnvironment: '<rootDir>/tools/test-environment.cjs',
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^fast-check$': '<rootDir>/tools/seeded-fast-check.cjs',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2023' }, module: { type: 'commonjs' } },
    ],
  },
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/', ...(isQuick ? whole : [])],
};

/** Two projects: `unit` needs nothing but Node; `system` needs the Temporal server, started once for all of it. */
module.exports = {
  testTimeout: 300_000, // a machine may be slow: only what never comes shall fail by it
  maxWorkers: 4, // for two cores: most of the time, two of four wait for a process, a disk or a point in time
  testSequencer: '<rootDir>/tools/longest-first.cjs',
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/!(test|node_modules|dist)/**/*.test.ts', '<rootDir>/test/structure/**/*.test.ts'],
    },
    {
      ...shared,
      displayName: 'system',
      testMatch: ['<rootDir>/test/!(structure)/**/*.test.ts'],
      globalSetup: '<rootDir>/test/global-setup.ts',
      globalTeardown: '<rootDir>/test/global-teardown.ts',
    },
  ],
};
