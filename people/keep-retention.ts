import { expireSlice, expiringLists } from './expire-payloads.js';
import type { Collaborators } from '../work/collaborators.js';

/** What a turn of a workspace gives to it; the rest follows with the next. */
const budgetMs = 1000;

/**
 * Drops payloads whose time is over, in slices, as `retention` says: beside reading, and never in one long transaction.
 * Safe to run twice, also at once.
 * @returns whether there is more to do
 */
export async function keepRetention(
  { ledger, config, stopping, log }: Pick<Collaborators, 'ledger' | 'config' | 'stopping' | 'log'>,
  workspace: string,
  signal: AbortSignal,
): Promise<boolean> {
  const until = performance.now() + budgetMs;
  for (const list of await expiringLists(ledger, workspace, config.retention)) {
    let after: string | null = list.after_key;
    while (after !== null) {
      if (performance.now() > until || stopping.aborted || signal.aborted) return true;
      // oxlint-disable-next-line no-await-in-loop -- slice after slice
      after = await expireSlice(ledger, { ...list, after_key: after }, config.retention);
    }
    log.info({ workspace, ref: list.ref, list: list.list }, 'payloads whose time is over were dropped');
  }
  return false;
}
