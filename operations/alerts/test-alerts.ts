import type { Config } from '../../config/config.js';
import { type TestedReceiver, testReceivers } from './alert-desk.js';
import { openReceivers } from './receivers/open-receivers.js';

/** Sends the receivers of a configuration a test, without a store and without a process that runs. */
export async function testAlerts(config: Config): Promise<TestedReceiver[]> {
  const receivers = openReceivers(config);
  try {
    return await testReceivers(receivers, config.server.publicUrl ?? null, new AbortController().signal);
  } finally {
    await Promise.all(receivers.map((receiver) => receiver.close()));
  }
}
