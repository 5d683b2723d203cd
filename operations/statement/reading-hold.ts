import type { Collaborators } from '../../cycles/collaborators.js';
import { allPauses, placeName } from '../../ledger/pauses.js';
import { selectedPigeonhole } from '../../ledger/pigeonholes.js';
import type { StoredStatement } from './statement-store.js';

/** For this time after its request, a statement waits for the service and its quota, because most outages are short. */
const waitForServiceMs = 5 * 60_000;

/** Reason for which an event is not read now. */
export interface Hold {
  /** In words; null: it is read. */
  readonly why: string | null;
  /** Maximum time for which a statement waits for it. */
  readonly forMs: number;
  /** The service no longer has the event. */
  readonly isGone: boolean;
}

/** Returns the reason for which the event of a statement is not read now. Its cost does not depend on the number of events. */
export async function holdOf(
  { ledger, config }: Pick<Collaborators, 'ledger' | 'config'>,
  { workspace, pigeonholeId, pigeonholeNumber }: StoredStatement,
): Promise<Hold> {
  const [selected, pauses, [facts]] = await Promise.all([
    selectedPigeonhole(ledger, Object.keys(config.syncs), { workspace, pigeonholeId }),
    allPauses(ledger),
    ledger.db.query<{ waitReason: string | null; isSilent: boolean; isGone: boolean }>(
      `select w.wait_reason as "waitReason", coalesce(w.unanswered_since is not null, false) as "isSilent",
         p.gone_at is not null as "isGone"
       from pigeonholes p left join workspaces w on w.name = p.workspace where p.pigeonhole_number = $1`,
      [pigeonholeNumber],
    ),
  ]);
  const { waitReason, isSilent, isGone } = facts!;
  const hold = (why: string, forMs = 0): Hold => ({ why, forMs, isGone });
  if (selected === undefined) return hold('the configuration no longer reads this event');
  const isPaused = (scope: string, name: string): boolean =>
    pauses.some((pause) => pause.scope === scope && pause.name === name);
  const own = pauses.find(({ scope, name }) => scope === 'workspace' && name === workspace);
  if (own?.cause === 'credential') return hold('the event service does not accept the access key');
  if (own !== undefined || isPaused('pigeonhole', placeName({ workspace, pigeonholeId }))) {
    return hold('the reading is paused');
  }
  if (isSilent) return hold('the event service does not answer', waitForServiceMs);
  if (waitReason !== 'quota') return { why: null, forMs: 0, isGone };
  return hold('the permitted number of requests to the event service is used up', waitForServiceMs);
}
