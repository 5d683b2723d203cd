import type { Ledger } from '../ledger/ledger.js';
import { type AskedAction, recordRequest, recordResult } from '../ledger/audit.js';
import type { ApiContext } from './api-app.js';
import { Refused } from './problem.js';

/** One request as the audit log records it. */
export interface Audited {
  readonly action: string;
  readonly target: string | null;
  readonly detail?: AskedAction['detail'];
  readonly subject?: Buffer | null;
  /**
   * Set for actions that change nothing lasting and are open to any token. Each one counts against the limit, whether
   * done or refused.
   */
  readonly changesNothing?: boolean;
}

/**
 * Runs an action and records it in the audit log: the request first, so that nothing is done unrecorded, and the outcome
 * afterwards. A process that dies in between leaves an action without an outcome.
 * @throws {Refused} 429 once a named token has had too many requests of this action refused: see RefusedActions
 */
export async function audited<Result>(
  c: ApiContext,
  ledger: Ledger,
  { action, target, detail = {}, subject = null, changesNothing = false }: Audited,
  work: () => Promise<Result>,
): Promise<Result> {
  const { name: who, token } = c.get('caller');
  const requestId = c.get('requestId');
  const kind = token === null ? undefined : `${token} ${action}`; // the administrator's token may do everything
  const refusedActions = c.get('refusedActions');
  if (kind !== undefined) refusedActions.admit(kind);
  const asked = await recordRequest(ledger, { who, token, action, target, detail, subject, requestId });
  c.set('audited', asked);
  try {
    const result = await work();
    if (kind !== undefined && changesNothing) refusedActions.count(kind);
    await recordResult(ledger, asked, { outcome: 'done', status: 200, requestId });
    return result;
  } catch (error) {
    const refused = error instanceof Refused && error.status < 500;
    const status = error instanceof Refused ? error.status : 500;
    if (kind !== undefined && refused) refusedActions.count(kind);
    await recordResult(ledger, asked, { outcome: refused ? 'refused' : 'failed', status, requestId });
    throw error;
  }
}
