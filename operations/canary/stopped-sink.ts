import type { Collaborators, OpenSink } from '../../work/collaborators.js';
import { isApproved } from '../../ledger/approvals.js';
import { pausesOf } from '../../ledger/pauses.js';

/** Why a sink is sent nothing at present, and what helps; null: it is. */
export async function stoppedSink(
  { ledger }: Pick<Collaborators, 'ledger'>,
  { id, name, observing, destination }: Pick<OpenSink, 'id' | 'name' | 'observing' | 'destination'>,
): Promise<{ readonly says: string; readonly todo: string } | null> {
  const [pause] = await pausesOf(ledger, [{ scope: 'sink', name }]);
  if (pause !== undefined) return { says: 'it is paused', todo: `pigeonpost resume sink:${name}` };
  if (!observing || (await isApproved(ledger, id, destination))) return null;
  return { says: 'it observes, and nobody has approved it', todo: `pigeonpost sink approve ${name}` };
}
