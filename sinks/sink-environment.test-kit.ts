import { Accounts } from './network/accounts.js';
import type { SinkEnvironment } from './sink.js';

/** Returns the environment of a sink in a test: the clock of this process, no shared state, default limits. */
export const environmentOf = (name: string, given: Partial<SinkEnvironment> = {}): SinkEnvironment => ({
  name,
  baseFolder: '/',
  network: { allowHosts: [] },
  now: Date.now,
  accounts: new Accounts(),
  onForget: 'clear-our-fields',
  ...given,
});
