import { pause } from '../../ledger/pauses.js';
import type { Collaborators } from '../collaborators.js';

/** Says where a person looks that the service refuses a workspace's key. Lifted by another key, or when it takes this one again. */
export async function pauseForKey(
  to: Pick<Collaborators, 'config' | 'ledger'>,
  workspace: string,
  detail: string,
): Promise<void> {
  const key = to.config.workspaces[workspace]!.apiKey.reveal();
  await pause(to.ledger, {
    scope: 'workspace',
    name: workspace,
    pausedBy: 'cause',
    cause: 'credential',
    detail,
    fingerprint: to.ledger.hash.fingerprint(key),
  });
}
