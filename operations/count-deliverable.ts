import { decideDelivery } from '../delivering/decide-delivery.js';
import type { SinkConfig } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { acceptedBy } from '../work/open-sinks.js';
import { ownRecords } from '../ledger/visibility.js';
import type { Consent } from '../ledger/seen-item.js';
import { consentBehind } from '../delivering/candidates.js';

/** Counts of one list. */
export interface DeliverableCount {
  readonly list: string;
  /** Sent. */
  readonly items: number;
  /** Not sent on purpose, by reason. */
  readonly withheld: Readonly<Record<string, number>>;
}

/** Counts the stored items that a sink would receive and those withheld from it, with the rules that apply on delivery. */
export async function countDeliverable(
  ledger: Ledger,
  sink: SinkConfig,
  asked: ItemsAsked,
): Promise<DeliverableCount[]> {
  if (asked.lists.length === 0) return [];
  return addUp(sink, await countItemGroups(ledger, asked));
}

/** Decides about each group, and adds up the counts by list. Pure. */
function addUp(sink: SinkConfig, groups: readonly ItemGroup[]): DeliverableCount[] {
  const lists = new Map<string, { list: string; items: number; withheld: Record<string, number> }>();
  for (const group of groups) {
    const sum = lists.get(group.list) ?? { list: group.list, items: 0, withheld: {} };
    const reason = whyWithheld(sink, group);
    if (reason === null) sum.items += group.items;
    else sum.withheld[reason] = (sum.withheld[reason] ?? 0) + group.items;
    lists.set(group.list, sum);
  }
  return [...lists.values()];
}

function whyWithheld(sink: SinkConfig, { list, consent, unselected }: ItemGroup): string | null {
  const decision = decideDelivery(
    {
      sequence: 0,
      id: '',
      list,
      key: 'one',
      revision: 1,
      kind: 'created',
      sessionId: null,
      foundAt: new Date(0),
      payload: '{}',
      latest: true,
      visibility: null,
      consent: list === 'attendees' ? (consent ?? 'not-known') : consent,
      sentBefore: false,
      erased: null,
      sentWithIdentity: null,
      attempts: 0,
      othersPassedSince: false,
      replay: 0,
      replayId: null,
    },
    {
      accepts: acceptedBy(sink),
      revisions: 'every',
      selected: new Set(unselected ? [] : ['one']),
      onConsentWithdrawn: 'keep', // nothing was delivered yet
      mayForget: () => true,
    },
  );
  return decision.kind === 'withhold' ? decision.reason : null;
}

export interface ItemsAsked {
  readonly ref: number;
  readonly lists: readonly string[];
  /** Only items whose last change was found since; null: all. */
  readonly since: Date | null;
  /** Leaves out items whose last change has a delivery row of this sink; null: counts them. */
  readonly withoutRowOf: number | null;
  /** Only items whose last change the sink has passed: its sequence is at most this; null: all. */
  readonly until: number | null;
  /** Keys, in the list `pigeonholes`, of the pigeonholes that the sink's syncs select. */
  readonly selected: readonly string[];
}

/** Items for which the decision is the same. */
export interface ItemGroup {
  readonly list: string;
  /** Consent of attendee records, where known; null for other lists. */
  readonly consent: Consent | null;
  /** For pigeonholes: no sync of the sink selects them. */
  readonly unselected: boolean;
  readonly items: number;
}

/**
 * Counts stored items by list and by the facts that decide their delivery. Reads every row of these lists, so it runs
 * only on request.
 */
export async function countItemGroups(ledger: Ledger, asked: ItemsAsked): Promise<ItemGroup[]> {
  return await ledger.db.query<ItemGroup & Record<string, unknown>>(
    `select i.list, case when i.list = any($7::text[]) then ${consentBehind} end as consent,
       i.list = 'pigeonholes' and i.key <> all($4::text[]) as unselected, count(*)::int as items
     from items i join changes c on c.ref = i.ref and c.sequence = i.last_sequence
       left join items a on i.list = any($7::text[]) and a.ref = i.ref and a.list = 'attendees' and a.key = i.attendee_id::text
         and a.payload is not null
     where i.ref = $1 and i.list = any($2::text[]) and i.payload is not null
       and ($3::timestamptz is null or c.found_at >= $3) and ($5::int8 is null or i.last_sequence <= $5)
       and ($6::int4 is null or not exists (select 1 from deliveries d
         where d.sink_id = $6 and d.ref = i.ref and d.sequence = i.last_sequence and d.replay = 0))
     group by 1, 2, 3 order by 1, 2, 3`,
    [asked.ref, asked.lists, asked.since, asked.selected, asked.until, asked.withoutRowOf, [...ownRecords]],
  );
}
