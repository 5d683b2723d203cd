import { randomUUID } from 'node:crypto';

/** The Temporal server of this run, and what keeps the tests on it apart. */
export interface TestTemporal {
  readonly address: string;
  readonly namespace: string;
  /** Unique to this test: use it in workflow names too. */
  readonly taskQueue: string;
  /** The program of the server, for tests that start one of their own. */
  readonly binary: string;
}

/** The server that `global-setup.ts` started for the system tests, with a task queue nobody else uses. */
export function temporalForTests(): TestTemporal {
  const address = process.env['PIGEONPOST_TEST_TEMPORAL'];
  const binary = process.env['PIGEONPOST_TEST_TEMPORAL_BINARY'];
  if (address === undefined || binary === undefined) {
    throw new Error('no Temporal server was started: this test belongs to the project "system" of jest.config.js');
  }
  return { address, namespace: 'default', taskQueue: `test-${randomUUID()}`, binary };
}
