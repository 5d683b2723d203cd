import type { Config } from '../../config/config.js';
import type { Ledger } from '../../ledger/ledger.js';
import { refOf, selectedPigeonholes } from '../../ledger/pigeonholes.js';
import { streamRecords, factsOf, readSchedules } from '../../reading/stream-facts.js';
import { shortest } from '../../reading/cadence.js';
import { addNeeds, demandBetween, noNeeds } from '../../reading/demand.js';
import { type Needs, unstretched } from './quota-rules.js';

/**
 * Returns the number of requests that reading these workspaces needs within each span from now. Computed from the
 * cadence of all their streams, as configured and assuming that nothing changes in them.
 */
export async function forecastNeeds(
  { ledger, config }: { readonly ledger: Ledger; readonly config: Config },
  workspaces: readonly string[],
  spansMs: readonly number[],
  now: number,
): Promise<Needs[]> {
  const syncs = Object.keys(config.syncs).filter((name) => workspaces.includes(config.syncs[name]!.workspace));
  const intervals = new Map(
    (await selectedPigeonholes(ledger, syncs)).map((row) => [
      row.ref,
      shortest(row.syncs.map((name) => config.syncs[name]!.everyMs)),
    ]),
  );
  for (const workspace of workspaces) {
    const own = syncs.filter((name) => config.syncs[name]!.workspace === workspace);
    if (own.length === 0) continue;
    intervals.set(await refOf(ledger, workspace, 0), shortest(own.map((name) => config.syncs[name]!.everyMs)));
  }
  const refs = [...intervals.keys()];
  const [schedules, streams] = await Promise.all([readSchedules(ledger, refs), streamRecords(ledger, refs)]);
  return spansMs.map((spanMs) =>
    streams
      .map((stream) =>
        demandBetween(
          factsOf(stream, schedules.get(stream.ref)!, unstretched),
          intervals.get(stream.ref)!,
          now,
          now + spanMs,
        ),
      )
      .reduce(addNeeds, noNeeds),
  );
}
