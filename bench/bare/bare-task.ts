import type { BareDepth, BareResult } from './bare-read.js';

/** Command-line settings of the bare loop. */
export interface BareTask {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pigeonholeId: number;
  readonly depth: BareDepth;
  /** Store in which `upsert` keeps its rows. */
  readonly store?: { readonly url: string } | { readonly folder: string };
  /** Destination of each page after it is stored. */
  readonly deliver?: BareDelivery;
}

export interface BareDelivery {
  /** Gets a line for each item, made durable page by page. */
  readonly file?: string;
  /** Gets a signed POST for each item. */
  readonly webhook?: { readonly url: string; readonly secret: string };
}

/** Result, printed after the word `measured`. */
export interface BareMeasurement extends BareResult {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
}
