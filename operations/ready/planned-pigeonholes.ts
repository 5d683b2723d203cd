import type { Config } from '../../config/config.js';
import { syncsOf } from '../../config/syncs.js';
import type { Ledger } from '../../ledger/ledger.js';
import { peopleOf, selectedPigeonholes } from '../../ledger/pigeonholes.js';
import { type ReadingPlan, planReading } from '../../reading/reading-plan.js';
import { readSchedules } from '../../reading/stream-facts.js';
import type { PlannedPigeonhole } from '../calendar-demand.js';

/** Returns the pigeonholes that the workspaces read, for the calendar. Reads only the ledger and makes no request. */
export async function plannedPigeonholes(
  { config, ledger }: { readonly config: Config; readonly ledger: Ledger },
  workspaces: readonly string[],
): Promise<{ readonly pigeonholes: readonly PlannedPigeonhole[]; readonly workspacePlans: readonly ReadingPlan[] }> {
  const reading = workspaces.filter((workspace) => syncsOf(config, workspace).length > 0);
  const selected = await selectedPigeonholes(
    ledger,
    reading.flatMap((workspace) => syncsOf(config, workspace)),
  );
  const pigeonholeNumbers = selected.map(({ pigeonholeNumber }) => pigeonholeNumber);
  const [schedules, people] = await Promise.all([
    readSchedules(ledger, pigeonholeNumbers),
    peopleOf(ledger, pigeonholeNumbers),
  ]);
  return {
    pigeonholes: selected.map(({ pigeonholeNumber, status, syncs }) => {
      const { event, sessions } = schedules.get(pigeonholeNumber)!;
      const plan = planReading(config, syncs, 'pigeonhole');
      return { status, event, sessions, expectedParticipants: people.get(pigeonholeNumber) ?? null, plan };
    }),
    workspacePlans: reading.map((workspace) => planReading(config, syncsOf(config, workspace), 'workspace')),
  };
}
