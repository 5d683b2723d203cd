import { z } from 'zod';
import { candidateSchema } from './configuration-plan.js';
import { itemKeySchema } from './why.js';

/** What a sink would be sent of stored items, under a file that need not be the current configuration. */
export const previewRequestSchema = z.strictObject({
  sink: z.string().min(1).max(200),
  list: z.string().min(1).max(100).nullable(),
  /** WORKSPACE/ID; null: all that the sink's syncs read. */
  pigeonhole: z.string().min(1).max(100).nullable(),
  key: itemKeySchema.nullable(),
  limit: z.int().min(1).max(1000),
  configuration: candidateSchema,
  /** The file to compare with: only items for which the two differ are shown. */
  changedFrom: candidateSchema.nullable(),
});
export type PreviewRequest = z.infer<typeof previewRequestSchema>;

/** What becomes of one item. Holds what would be sent, personal data included: for the person who asked. */
export interface PreviewedItem {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly now: PreviewedOperation;
  /** Under the file to compare with; absent when none was given. */
  readonly before?: PreviewedOperation;
}

export type PreviewedOperation =
  | { readonly kind: 'send'; readonly operation: unknown }
  /** `reason`: a short stable code, such as `consent-refused` or `condition`. */
  | { readonly kind: 'withhold'; readonly reason: string }
  | { readonly kind: 'fail'; readonly cause: string; readonly detail: string };

export interface Preview {
  readonly items: readonly PreviewedItem[];
  /** There are more items than were asked for. */
  readonly more: boolean;
  /** Of all stored items: how many would be sent, and how many withheld, by reason. */
  readonly counts: readonly PreviewCount[];
}

export interface PreviewCount {
  readonly list: string;
  readonly items: number;
  readonly withheld: Readonly<Record<string, number>>;
}
