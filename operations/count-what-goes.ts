import { decideDelivery } from '../delivering/decide-delivery.js';
import type { SinkConfig } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import { countItemGroups, type ItemGroup, type ItemsAsked } from './count-items.js';
import { acceptedBy } from '../work/open-sinks.js';

/** Of one list. */
export interface WhatGoes {
  readonly list: string;
  /** Sent. */
  readonly items: number;
  /** Not sent on purpose, by reason. */
  readonly withheld: Readonly<Record<string, number>>;
}

/** How many stored items a sink would be sent, and how many it would not, decided as when they are sent. */
export async function countWhatGoes(ledger: Ledger, sink: SinkConfig, asked: ItemsAsked): Promise<WhatGoes[]> {
  if (asked.lists.length === 0) return [];
  return addUp(sink, await countItemGroups(ledger, asked));
}

/** Pure. */
function addUp(sink: SinkConfig, groups: readonly ItemGroup[]): WhatGoes[] {
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
      toldBefore: false,
      erased: null,
      sentWithIdentity: null,
      attempts: 0,
      failedAlone: false,
      replay: 0,
      replayId: null,
    },
    {
      accepts: acceptedBy(sink),
      revisions: 'every',
      selected: new Set(unselected ? [] : ['one']),
      onConsentWithdrawn: 'keep', // nothing was told yet
      mayForget: () => true,
    },
  );
  return decision.kind === 'withhold' ? decision.reason : null;
}
