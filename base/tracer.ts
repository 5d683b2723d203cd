/** Names from the configuration, ids, codes and counts; never a text that a person wrote. */
export type SpanAttributes = Readonly<Record<string, string | number | null>>;

/** Records spans for traces. Each cycle is one trace, with its requests and deliveries as child spans. */
export interface Tracer {
  /** Runs `work` as a child span of the current one. Returns the result of `work`, or throws its error. */
  span<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result>;
  /** Records a child span that ends now. @param took.failure the kind of failure; null: success */
  ended(
    name: string,
    attributes: SpanAttributes,
    took: { readonly durationMs: number; readonly failure: string | null },
  ): void;
}

/** A tracer for processes without a collector. */
export const noTracer: Tracer = { span: async (_name, _attributes, work) => await work(), ended: () => undefined };
