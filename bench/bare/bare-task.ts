import type { BareDepth, BareResult } from './bare-read.js';

/** What the bare loop is told on its command line. */
export interface BareTask {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pigeonholeId: number;
  readonly depth: BareDepth;
  /** Where `upsert` keeps its rows. */
  readonly store?: { readonly url: string } | { readonly folder: string };
}

/** What it prints, after the word `measured`. */
export interface BareMeasurement extends BareResult {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
}
