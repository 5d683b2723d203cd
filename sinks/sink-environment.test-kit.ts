import { Accounts } from './network/accounts.js';
import type { SinkEnvironment, Lane } from './sink.js';

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

/** Returns a lane with a copy of this memory. What the sink remembers is stored in the given memory. */
export const laneOf = (memory: Record<string, unknown> = {}): Lane => ({
  workspace: 'acme',
  pigeonholeId: 101,
  ledgerId: 'ledger-1',
  memory: { ...memory },
  remember: async (more) => void Object.assign(memory, more),
});
