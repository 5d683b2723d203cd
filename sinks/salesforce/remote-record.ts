import { z } from 'zod';
import type { Fields } from '../sink.js';

/** What an entry of `records` has made of an item. Ids and states, never a value. */
export interface RemoteRecord {
  readonly type: 'Lead' | 'Contact';
  readonly id: string;
  /** This sink created it, for this item. */
  readonly created: boolean;
  /** This sink gave it its external id. */
  readonly keyed: boolean;
  /** The fields that this sink has written. */
  readonly written: readonly string[];
  /** When it last wrote, by Salesforce's clock, Unix time in ms. */
  readonly writtenAtMs: number;
  readonly member: RemoteMember | null;
}

export interface RemoteMember {
  readonly id: string;
  readonly campaignId: string;
  /** As this sink last gave or found it. */
  readonly status: string;
  readonly created: boolean;
  /** The fields that this sink has written, less the status. */
  readonly written: readonly string[];
}

const recordSchema = z.object({
  type: z.enum(['Lead', 'Contact']),
  id: z.string(),
  created: z.boolean(),
  keyed: z.boolean(),
  written: z.array(z.string()),
  writtenAtMs: z.number(),
  member: z
    .object({
      id: z.string(),
      campaignId: z.string(),
      status: z.string(),
      created: z.boolean(),
      written: z.array(z.string()).default([]),
    })
    .nullable(),
});

/** Under the name of an entry of `records`, in the object of an item; null: nothing was made by that entry, or it was taken back. */
export function remoteRecordOf(object: Fields | null, record: string): RemoteRecord | null {
  const found = recordSchema.safeParse(object?.[record]);
  return found.success ? found.data : null;
}

/** A record that belongs to a person, made by an entry of `records`: all of it is this sink's. */
export interface LinkedRecord {
  /** The object, such as Task. */
  readonly linked: string;
  readonly id: string;
}

const linkedSchema = z.object({ linked: z.string(), id: z.string() });

export function linkedRecordOf(object: Fields | null, record: string): LinkedRecord | null {
  const found = linkedSchema.safeParse(object?.[record]);
  return found.success ? found.data : null;
}
