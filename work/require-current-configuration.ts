import { anotherConfiguration, currentConfiguration } from '../ledger/configurations.js';
import type { Collaborators } from './collaborators.js';

/**
 * Stops a process whose configuration is not the current one: two configurations would undo each other's work.
 * @throws {LedgerError} kind `configuration`, which Temporal retries until a process with the current one picks it up
 */
export async function requireCurrentConfiguration({ ledger, configuration }: Collaborators): Promise<void> {
  const current = await currentConfiguration(ledger);
  if (current === configuration) return;
  throw anotherConfiguration(configuration, current);
}
