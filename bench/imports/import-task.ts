/** Command-line settings of a contender. */
export interface ImportTask {
  readonly contender: 'bare' | 'product';
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pigeonholeId: number;
  readonly rows: number;
  readonly chunkSize: number;
  /** Store of the product's ledger. */
  readonly databaseUrl: string;
  /** For the product's configuration. */
  readonly folder: string;
}

/** Result, printed after the word `measured`. */
export interface ImportMeasurement {
  readonly seconds: number;
  /** Part of that time until all rows were staged and checked against earlier imports; 0 for the bare loop. */
  readonly stagingSeconds: number;
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
  readonly requests: number;
}
