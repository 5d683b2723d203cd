import type { DeliveryNews, SinkNews } from '../base/live-lines.js';
import type { Ledger } from '../ledger/ledger.js';
import type { FeedChange } from '../ledger/shown-items.js';
import { causeText, reasonWords } from '../sinks/reason-words.js';

/** Maximum number of changes whose deliveries one reader follows; the newest stay. */
const maxFollowed = 500;

type Followed = Pick<FeedChange, 'pigeonholeNumber' | 'workspace' | 'pigeonholeId' | 'sequence' | 'list'>;

interface Row {
  readonly n: number;
  readonly sink: string;
  readonly state: string;
  readonly reason: string | null;
}

/**
 * Follows what becomes of changes at the sinks that receive their lists. A change that every sink has settled is no longer
 * asked for, so a reader costs nothing while nothing waits.
 */
export class LiveDeliveries {
  readonly #ledger: Pick<Ledger, 'db'>;
  readonly #open = new Map<string, { readonly change: Followed; said: string | null }>();

  constructor(ledger: Pick<Ledger, 'db'>) {
    this.#ledger = ledger;
  }

  /** Starts to follow changes. */
  follow(changes: readonly Followed[]): void {
    for (const change of changes) {
      this.#open.set(`${change.pigeonholeNumber} ${change.sequence}`, { change, said: null });
    }
    for (const name of this.#open.keys()) if (this.#open.size > maxFollowed) this.#open.delete(name);
  }

  /** Returns the changes of which a sink has another state than the last time. */
  async next(): Promise<DeliveryNews[]> {
    if (this.#open.size === 0) return [];
    const followed = [...this.#open];
    const bySequence = await this.#read(followed.map(([, { change }]) => change));
    return followed.flatMap(([name, entry], at) => {
      const sinks = bySequence.get(at + 1) ?? [];
      if (sinks.every(({ state }) => state !== 'waits')) this.#open.delete(name);
      const said = JSON.stringify(sinks);
      if (said === entry.said) return [];
      entry.said = said;
      const { workspace, pigeonholeId, sequence } = entry.change;
      return [{ workspace, pigeonholeId, sequence, sinks }];
    });
  }

  async #read(changes: readonly Followed[]): Promise<ReadonlyMap<number, SinkNews[]>> {
    const rows = await this.#ledger.db.query<Row>(
      `select n.n::int as n, s.name as sink, d.reason, case when d.state is not null then d.state
           when n.sequence <= l.watermark then 'passed'
           when l.observed is not null and not exists (select 1 from approvals a where a.sink_id = s.id) then 'observes'
           else 'behind' end as state
       from unnest($1::int4[], $2::int8[], $3::text[]) with ordinality as n (pigeonhole_number, sequence, list, n)
         join lanes l on l.pigeonhole_number = n.pigeonhole_number
         join sinks s on s.id = l.sink_id and s.archived_at is null
         left join lateral (select state, reason from deliveries where sink_id = l.sink_id
           and pigeonhole_number = n.pigeonhole_number and sequence = n.sequence and replay = 0 limit 1) d on true
       where l.lists = '' or n.list = any(string_to_array(l.lists, ' '))
       order by n.n, s.name`,
      [
        changes.map(({ pigeonholeNumber }) => pigeonholeNumber),
        changes.map(({ sequence }) => sequence),
        changes.map(({ list }) => list),
      ],
    );
    const news = new Map<number, SinkNews[]>();
    for (const row of rows) {
      const told = newsOf(row);
      if (told !== null) news.set(row.n, [...(news.get(row.n) ?? []), told]);
    }
    return news;
  }
}

/** Returns null for a sink that did not receive changes like this one at that time. */
function newsOf({ sink, state, reason }: Row): SinkNews | null {
  switch (state) {
    case 'delivered':
      return { sink, state: 'has', words: null };
    case 'dead':
      return { sink, state: 'refused', words: reason === null ? null : causeText(reason).meaning };
    case 'withheld':
      return { sink, state: 'not', words: reason === null ? null : reasonWords(reason) };
    case 'superseded':
      return { sink, state: 'not', words: 'a later revision replaced it' };
    case 'observes':
      return { sink, state: 'not', words: 'it only observes' };
    case 'retry':
      return { sink, state: 'waits', words: 'an attempt failed' };
    case 'passed':
      return null;
    default:
      return { sink, state: 'waits', words: null };
  }
}
