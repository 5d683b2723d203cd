import { z } from 'zod';
import { listNames } from '../config/schema/list-names.js';

/** Stored items that a person wants to have sent again. */
export const replayRequestSchema = z.strictObject({
  /** Made by whoever asks, so that asking twice is one replay; stands in the envelope of what is emitted. */
  id: z.uuid(),
  /** A sink's name; null: every sink. */
  sink: z.string().min(1).max(200).nullable(),
  lists: z.array(z.enum(listNames)).min(1).nullable(),
  /** `<workspace>/<id>`; null: every pigeonhole, and the workspaces' own lists. */
  pigeonhole: z.string().min(1).max(200).nullable(),
  /** ISO 8601: only what has changed since; null: everything. */
  from: z.iso.datetime({ offset: true }).nullable(),
  /** Only count. */
  dryRun: z.boolean(),
  by: z.string().min(1).max(200).optional(),
  reason: z.string().min(1).max(500).optional(),
});
export type ReplayRequest = z.infer<typeof replayRequestSchema>;

/** How many items of a list a sink would be sent again, or was asked to, and how many are withheld from it, by reason. */
export interface ReplayCount {
  readonly sink: string;
  readonly list: string;
  readonly items: number;
  readonly withheld: Readonly<Record<string, number>>;
}

/** What is not known: a sentence. */
export type ReplayResult =
  | { readonly unknown: string }
  | { readonly id: string; readonly dryRun: boolean; readonly counts: readonly ReplayCount[] };
