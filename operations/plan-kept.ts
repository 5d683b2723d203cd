import { consentReason } from '../delivering/decide-delivery.js';
import { plannedLanes } from '../delivering/lane-plans.js';
import type { KeptItems } from '../api/configuration-plan.js';
import type { Ledger } from '../ledger/ledger.js';
import { listNotWanted } from '../delivering/adopt-configuration.js';
import { countStanding } from '../ledger/count-standing.js';
import { knownLanes } from '../delivering/known-lanes.js';
import { acceptedBy } from '../work/open-sinks.js';
import type { Both } from './plan-deliveries.js';

/**
 * What stays at sinks that a configuration no longer sends it to, by sink, list and reason: what is narrowed concerns
 * later changes alone, and takes nothing back (docs/sinks.md). A person who reads the plan may want to remove it there.
 */
export async function planKept(ledger: Ledger, { before, now, selectedNow }: Both): Promise<KeptItems[]> {
  const sums = new Map<string, { sink: string; list: string; reason: string; items: number }>();
  const add = (sink: string, list: string, reason: string, items: number): void => {
    const name = JSON.stringify([sink, list, reason]);
    sums.set(name, { sink, list, reason, items: (sums.get(name)?.items ?? 0) + items });
  };
  const lanes = await knownLanes(ledger, Object.keys(now.sinks));
  for (const [sink, config] of Object.entries(now.sinks)) {
    const accepted = acceptedBy(config);
    const accepts = before.sinks[sink] === undefined ? accepted : acceptedBy(before.sinks[sink]);
    const refused = [...accepts].filter((state) => !accepted.has(state)).map(consentReason);
    for (const plan of plannedLanes(now, sink, selectedNow.of(sink))) {
      const lane = lanes.find((row) => row.sink === sink && isSamePlace(row, plan));
      if (lane === undefined) continue;
      const dropped = lane.lists.filter((list) => !plan.lists.some((wanted) => wanted === list));
      const asked = refused.length === 0 ? dropped : [...new Set([...dropped, 'attendees'])];
      // oxlint-disable-next-line no-await-in-loop -- each reads whole lanes: not all at once
      for (const { list, consent, items } of await countStanding(ledger, { ...lane, lists: asked })) {
        const reason = consentReason(consent ?? 'not-known');
        if (dropped.includes(list)) add(sink, list, listNotWanted, items);
        else if (refused.includes(reason)) add(sink, list, reason, items);
      }
    }
  }
  return [...sums.values()];
}

interface Place {
  readonly workspace: string;
  readonly pigeonholeId: number;
}

function isSamePlace(one: Place, other: Place): boolean {
  return one.workspace === other.workspace && one.pigeonholeId === other.pigeonholeId;
}
