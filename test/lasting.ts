/** Resources with the lifetime of a Jest process, which runs many test files: see `tools/test-environment.cjs`. */
export interface Lasting {
  /** Plain data by name. Functions and objects of a test file are of no use to the next one. */
  readonly kept: Map<string, string>;
  /** Folders to remove when the process ends. */
  readonly folders: Set<string>;
  /** Compiles PGlite's engine once for all embedded stores of the process. */
  keepEmbeddedEngine(): Promise<void>;
}

/** Returns undefined in a program that Jest does not run. */
export function lasting(): Lasting | undefined {
  return (globalThis as { readonly pigeonpostLasting?: Lasting }).pigeonpostLasting;
}
