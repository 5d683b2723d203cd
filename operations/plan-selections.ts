import { choose, shownPigeonholes, stillChosen } from '../reading/discover.js';
import { syncsTo } from '../delivering/lane-plans.js';
import type { SelectionChange } from './configuration-plan.js';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { findRef, type Selected } from '../ledger/pigeonholes.js';
import { selectionsOf } from '../ledger/syncs.js';

type SelectedPigeonhole = Pick<Selected, 'workspace' | 'pigeonholeId' | 'syncs'>;

/** The pigeonholes that each sync of a configuration reads. */
export class SelectedBySync {
  constructor(
    private readonly config: Config,
    private readonly bySync: ReadonlyMap<string, readonly number[]>,
  ) {}

  idsOf(sync: string): readonly number[] {
    return this.bySync.get(sync) ?? [];
  }

  /** Returns the pigeonholes that a sink's syncs read, each with those syncs. */
  of(sink: string): SelectedPigeonhole[] {
    const places = new Map<string, SelectedPigeonhole & { syncs: string[] }>();
    for (const sync of syncsTo(this.config, sink)) {
      const { workspace } = this.config.syncs[sync]!;
      for (const pigeonholeId of this.idsOf(sync)) {
        const name = `${workspace}/${pigeonholeId}`;
        const place = places.get(name) ?? { workspace, pigeonholeId, syncs: [] };
        place.syncs.push(sync);
        places.set(name, place);
      }
    }
    return [...places.values()];
  }
}

/** Returns the pigeonholes that the syncs of the current configuration read. */
export async function selectedNow(config: Config, ledger: Ledger): Promise<SelectedBySync> {
  const bySync = new Map<string, number[]>();
  for (const [sync, { workspace }] of Object.entries(config.syncs)) {
    const rows = await selectionsOf(ledger, sync);
    bySync.set(
      sync,
      rows.filter((row) => row.workspace === workspace).map(({ pigeonholeId }) => pigeonholeId),
    );
  }
  return new SelectedBySync(config, bySync);
}

/**
 * Returns the pigeonholes, among those seen in the service so far, that the syncs of another configuration would read.
 */
export async function selectedThen(before: Config, now: Config, ledger: Ledger): Promise<SelectedBySync> {
  const bySync = new Map<string, number[]>();
  for (const [sync, { workspace, pigeonholes: choice }] of Object.entries(now.syncs)) {
    const shown = await shownPigeonholes(ledger, workspace);
    const byId = new Map(shown.map((pigeonhole) => [pigeonhole.id, pigeonhole]));
    const held = (await selectionsOf(ledger, sync)).filter((row) => row.workspace === workspace);
    const isSame = JSON.stringify(before.syncs[sync]?.pigeonholes) === JSON.stringify(choice);
    const kept = held
      .map(({ pigeonholeId }) => pigeonholeId)
      .filter((id) => isSame || stillChosen(choice, id, byId.get(id)));
    bySync.set(
      sync,
      [...new Set([...kept, ...choose(choice, shown)])].toSorted((a, b) => a - b),
    );
  }
  return new SelectedBySync(now, bySync);
}

/** Compares the selections of two configurations by sync. */
export async function compareSelections(
  ledger: Ledger,
  { before, now }: { before: Config; now: Config },
  then: { before: SelectedBySync; now: SelectedBySync },
): Promise<SelectionChange[]> {
  const changes: SelectionChange[] = [];
  for (const sync of new Set([...Object.keys(before.syncs), ...Object.keys(now.syncs)])) {
    const { workspace } = (now.syncs[sync] ?? before.syncs[sync])!;
    const [old, next] = [then.before.idsOf(sync), then.now.idsOf(sync)];
    const added = next.filter((id) => !old.includes(id));
    const removed = old.filter((id) => !next.includes(id));
    if (added.length + removed.length === 0) continue;
    const refs = await Promise.all(added.map((id) => findRef(ledger.db, workspace, id)));
    changes.push({ sync, workspace, added, removed, unread: refs.filter((ref) => ref === undefined).length });
  }
  return changes;
}
