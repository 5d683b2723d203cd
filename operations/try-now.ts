import type { Ledger } from '../ledger/ledger.js';
import { pausesOf, resume } from '../ledger/pauses.js';
import { askQuotaAgain } from '../work/asking/quota.js';
import { trySinkNow } from '../delivering/stored-breaker.js';
import { retryWorkspace, workspaceAnswers } from '../ledger/workspaces.js';

export interface TryNowTarget {
  readonly kind: 'workspace' | 'sink';
  readonly name: string;
  /** Keyed fingerprint of the workspace's key; null for a sink. */
  readonly key: string | null;
}

/**
 * Ends every wait that stands between a sink or a workspace and its next attempt: backoff, `Retry-After`, a used-up
 * quota, a refused credential. The other side may ask to wait again. A second call changes nothing.
 * @returns why nothing was tried, in a sentence: only `resume` lifts a pause that an operator has to decide about
 */
export async function tryNow(ledger: Ledger, { kind, name, key }: TryNowTarget): Promise<string | undefined> {
  const pauses = await pausesOf(ledger, [{ scope: kind, name }]);
  const decided = pauses.find(({ pausedBy, cause }) => pausedBy === 'person' || cause !== 'credential');
  if (decided !== undefined) {
    return `${kind} ${name} is paused, so nothing was tried; to continue, run "pigeonpost resume ${kind}:${name}"`;
  }
  if (pauses.length > 0) await resume(ledger, kind, name, 'cause');
  if (kind === 'sink') {
    await trySinkNow(ledger, name);
    return undefined;
  }
  await workspaceAnswers(ledger, name);
  if (key !== null) await askQuotaAgain(ledger, key);
  await retryWorkspace(ledger, name);
  return undefined;
}
