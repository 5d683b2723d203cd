import { type DiscoveredPigeonhole, stillChosen, toPigeonhole } from '../reading/discover.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { refOf, storedItems } from '../ledger/pigeonholes.js';
import { archiveSelections, changedSyncs, type RegisteredSync, registerSyncs, selectionsOf } from '../ledger/syncs.js';

/**
 * Makes the ledger's syncs those of the configuration. Where one chooses its pigeonholes by something else than before,
 * those that it would no longer choose leave it, whatever their status; a sync that is not there any more is archived.
 * Both come back when the configuration names them again. A second run changes nothing; one that was cut is made up
 * for by the next, since the syncs are noted last.
 */
export async function adoptSyncs(config: Config, ledger: Ledger): Promise<void> {
  const syncs = registered(config);
  for (const sync of await changedSyncs(ledger, syncs)) {
    await archiveSelections(ledger, sync, await leavingSync(config, ledger, sync));
  }
  await registerSyncs(ledger, syncs);
}

/** The ledger's numbers of the pigeonholes that a sync reads and would no longer choose. */
export async function leavingSync(config: Config, ledger: Ledger, sync: string): Promise<number[]> {
  const { workspace, pigeonholes: choice } = config.syncs[sync]!;
  const shown = new Map((await shownPigeonholes(ledger, workspace)).map((pigeonhole) => [pigeonhole.id, pigeonhole]));
  return (await selectionsOf(ledger, sync))
    .filter((row) => row.workspace !== workspace || !stillChosen(choice, row.pigeonholeId, shown.get(row.pigeonholeId)))
    .map(({ ref }) => ref);
}

/** What the service's list of pigeonholes has last shown. */
export async function shownPigeonholes(ledger: Ledger, workspace: string): Promise<DiscoveredPigeonhole[]> {
  const stored = await storedItems(ledger, await refOf(ledger, workspace, 0), 'pigeonholes');
  return stored.map(({ payload }) => toPigeonhole(payload));
}

/** The syncs of a configuration as the ledger keeps them. */
export function registered(config: Config): RegisteredSync[] {
  return Object.entries(config.syncs).map(([name, { workspace, pigeonholes }]) => ({
    name,
    workspace,
    choice: JSON.stringify(pigeonholes),
  }));
}
