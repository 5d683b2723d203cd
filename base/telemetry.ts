/** Names of the configuration, ids, codes and counts; never a text that anybody wrote. */
export type SpanAttributes = Readonly<Record<string, string | number | null>>;

/** Where time goes, for those who collect traces: each turn is one, with what was asked and sent within it. */
export interface Tracer {
  /** Does the work as a span of its own, within the one that runs. Gives and throws what the work does. */
  span<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result>;
  /** A span that ends now, within the one that runs. @param failure its kind; null: it went well */
  ended(
    name: string,
    attributes: SpanAttributes,
    took: { readonly durationMs: number; readonly failure: string | null },
  ): void;
}

/** For those who collect none. */
export const noTracer: Tracer = { span: async (_name, _attributes, work) => await work(), ended: () => undefined };

/** What work adds to the figures of this process. Names and codes alone: nobody's data becomes a label. */
export interface Meters {
  /** A poll has brought new items: how old the newest of them was by then, by the service's clock. */
  found(list: string, ageMs: number): void;
  /** What became of changes that a sink was sent. */
  settled(sink: string, outcomes: Readonly<Record<'delivered' | 'dead' | 'retry', number>>): void;
}

/** For those who count nothing. */
export const noMeters: Meters = { found: () => undefined, settled: () => undefined };
