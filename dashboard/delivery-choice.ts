/** The rows that the page of a sink's deliveries shows. All of it is in the address, so that it can be sent to others. */
export interface DeliveryChoice {
  readonly sink: string;
  readonly show: DeliveryList;
  /** Outcome of the attempts; null: any. */
  readonly outcome: string | null;
  /** Reason of withheld deliveries, cause of dead letters and attempts; null: any. */
  readonly reason: string | null;
  readonly list: string | null;
  /** `<workspace>/<id>`; null: all. */
  readonly pigeonhole: string | null;
  /** Only attempts of this time until now: a key of `periods`; null: all. */
  readonly period: string | null;
  /** The delivery whose attempts are open: `<workspace>/<id>/<sequence>/<replay>`; null: none. */
  readonly open: string | null;
}

const deliveryLists = ['attempts', 'open', 'delivered', 'withheld', 'dead'] as const;
export type DeliveryList = (typeof deliveryLists)[number];

/** The titles of the lists, in their order. */
export const deliveryListTitles: Readonly<Record<DeliveryList, string>> = {
  attempts: 'Attempts',
  open: 'Waiting',
  delivered: 'Delivered',
  withheld: 'Withheld',
  dead: 'Dead letters',
};

/** The periods of the filter, in ms, with their labels. */
export const periods: Readonly<Record<string, readonly [label: string, ms: number]>> = {
  '15m': ['last 15 minutes', 15 * 60_000],
  '1h': ['last hour', 60 * 60_000],
  '24h': ['last 24 hours', 24 * 60 * 60_000],
  '7d': ['last 7 days', 7 * 24 * 60 * 60_000],
};

/** Reads the choice from the query of an address. An unknown list is the list of attempts. Pure. */
export function deliveryChoiceOf(sink: string, asked: URLSearchParams): DeliveryChoice {
  const show = deliveryLists.find((each) => each === asked.get('show')) ?? 'attempts';
  const [outcome, reason, list, pigeonhole] = ['outcome', 'reason', 'list', 'pigeonhole'].map((name) =>
    asked.get(name),
  );
  const period = Object.keys(periods).find((each) => each === asked.get('period')) ?? null;
  return {
    sink,
    show,
    outcome: outcome ?? null,
    reason: reason ?? null,
    list: list ?? null,
    pigeonhole: pigeonhole ?? null,
    period,
    open: asked.get('open'),
  };
}

/** Returns the address of a choice, without what it leaves open. Pure. */
export function deliveriesAddress({ sink, ...choice }: Partial<DeliveryChoice> & Pick<DeliveryChoice, 'sink'>): string {
  const given = Object.entries(choice).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry.join() !== 'show,attempts',
  );
  const query = new URLSearchParams(given).toString();
  return `#/deliveries/${encodeURIComponent(sink)}${query === '' ? '' : `?${query}`}`;
}
