/** What a contender is told on its command line. */
export interface ImportTask {
  readonly contender: 'bare' | 'product';
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pigeonholeId: number;
  readonly rows: number;
  readonly chunkSize: number;
  /** Where the product keeps its ledger. */
  readonly databaseUrl: string;
  /** For the product's configuration. */
  readonly folder: string;
}

/** What it prints, after the word `measured`. */
export interface ImportMeasurement {
  readonly seconds: number;
  /** Of these, until everything was staged and checked against earlier imports; 0 for the bare loop. */
  readonly stagingSeconds: number;
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
  readonly requests: number;
}
