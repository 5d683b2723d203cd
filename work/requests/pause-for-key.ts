import { pause } from '../../ledger/pauses.js';
import type { Collaborators } from '../collaborators.js';

/**
 * Pauses a workspace whose API key the service refused. The pause ends when the key is replaced, or when the service
 * accepts it again.
 */
export async function pauseForKey(
  deps: Pick<Collaborators, 'config' | 'ledger'>,
  workspace: string,
  detail: string,
): Promise<void> {
  const key = deps.config.workspaces[workspace]!.apiKey.reveal();
  await pause(deps.ledger, {
    scope: 'workspace',
    name: workspace,
    pausedBy: 'cause',
    cause: 'credential',
    detail,
    fingerprint: deps.ledger.hash.fingerprint(key),
  });
}
