/** What work adds to the figures of this process. Names and codes alone: nobody's data becomes a label. */
export interface Meters {
  /** A poll has brought new items: how old the newest of them was by then, by the service's clock. */
  found(list: string, ageMs: number): void;
  /** What became of changes that a sink was sent. */
  settled(sink: string, outcomes: Readonly<Record<'delivered' | 'dead' | 'retry', number>>): void;
}

/** For those who count nothing. */
export const noMeters: Meters = { found: () => undefined, settled: () => undefined };
