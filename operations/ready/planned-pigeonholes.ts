import { syncsOf } from '../../reading/read-pigeonhole.js';
import { planReading, type ReadingPlan } from '../../work/reading-plan.js';
import { readSchedules } from '../../reading/stream-facts.js';
import type { Config } from '../../config/config.js';
import type { Ledger } from '../../ledger/ledger.js';
import { peopleOf } from '../../ledger/people-of.js';
import { selectedPigeonholes } from '../../ledger/pigeonholes.js';
import type { PlannedPigeonhole } from '../calendar-demand.js';

/** All that some workspaces read, as a calendar reckons with it, from what the ledger knows: no request is made. */
export async function plannedPigeonholes(
  { config, ledger }: { readonly config: Config; readonly ledger: Ledger },
  workspaces: readonly string[],
): Promise<{ readonly pigeonholes: readonly PlannedPigeonhole[]; readonly workspacePlans: readonly ReadingPlan[] }> {
  const reading = workspaces.filter((workspace) => syncsOf(config, workspace).length > 0);
  const selected = await selectedPigeonholes(
    ledger,
    reading.flatMap((workspace) => syncsOf(config, workspace)),
  );
  const refs = selected.map(({ ref }) => ref);
  const [schedules, people] = await Promise.all([readSchedules(ledger, refs), peopleOf(ledger, refs)]);
  return {
    pigeonholes: selected.map(({ ref, status, syncs }) => {
      const { event, sessions } = schedules.get(ref)!;
      const plan = planReading(config, syncs, 'pigeonhole');
      return { status, event, sessions, expectedParticipants: people.get(ref) ?? null, plan };
    }),
    workspacePlans: reading.map((workspace) => planReading(config, syncsOf(config, workspace), 'workspace')),
  };
}
