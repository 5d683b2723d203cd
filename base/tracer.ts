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
