import type { WrittenKeys } from '../keys.js';

/**
 * A vendor's requests as data. `settings` and `record` have the keys of docs/configuration.md ("Sinks of type http"),
 * and no others, so users can write anything that a preset does in pigeonpost.yaml. sinks/http/README.md explains how
 * to add one.
 */
export interface Preset {
  /** The value of `preset`. */
  readonly name: string;
  /** The vendor's product. */
  readonly title: string;
  /** The keys of the sink. `records` here are used if the user writes none. */
  readonly settings: WrittenKeys;
  /** Defaults of every entry of `records`. */
  readonly record?: NonNullable<WrittenKeys['records']>[number];
  /** The vendor's limits of an account. */
  readonly limits?: { readonly per10s?: number; readonly perDay?: number };
}
