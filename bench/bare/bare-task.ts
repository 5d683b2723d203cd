import type { BareDepth, BareResult } from './bare-read.js';

/** What the bare loop is told on its command line. */
export interface BareTask {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pigeonholeId: number;
  readonly depth: BareDepth;
  /** Where `upsert` keeps its rows. */
  readonly store?: { readonly url: string } | { readonly folder: string };
  /** What each page is given to once it is kept. */
  readonly deliver?: BareDelivery;
}

export interface BareDelivery {
  /** Gets a line for each item, made durable page by page. */
  readonly file?: string;
  /** Gets a signed POST for each item. */
  readonly webhook?: { readonly url: string; readonly secret: string };
}

/** What it prints, after the word `measured`. */
export interface BareMeasurement extends BareResult {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
}
