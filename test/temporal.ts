import { randomUUID } from 'node:crypto';

/** The Temporal server of this run, with a task queue for one test. */
export interface TestTemporal {
  readonly address: string;
  readonly namespace: string;
  /** Unique for this test. Use it in workflow names too. */
  readonly taskQueue: string;
  /** The program of the server, for tests that start their own. */
  readonly binary: string;
}

/** Returns the server that `global-setup.ts` started for the system tests, with an unused task queue. */
export function temporalForTests(): TestTemporal {
  const address = process.env['PIGEONPOST_TEST_TEMPORAL'];
  const binary = process.env['PIGEONPOST_TEST_TEMPORAL_BINARY'];
  if (address === undefined || binary === undefined) {
    throw new Error('no Temporal server was started: this test belongs to the project "system" of jest.config.js');
  }
  return { address, namespace: 'default', taskQueue: `test-${randomUUID()}`, binary };
}
