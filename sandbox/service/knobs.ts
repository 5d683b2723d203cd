import { z } from 'zod';
import { LIST_NAMES } from '../list-name.js';
import { EVENT_KINDS } from '../world/traffic.js';

/**
 * Settings ("knobs") for behaviour that the specification does not define. The defaults are guesses. `README.md` lists
 * them. A client must not depend on them, so tests change them.
 */
const order = z.enum(['ascending', 'descending', 'unordered']);
const cursor = z.enum(['keyset', 'offset']);
const listName = z.enum(LIST_NAMES);

export const listSettingSchema = z.strictObject({ order: order.optional(), cursor: cursor.optional() });

export const knobsSchema = z.strictObject({
  /** Order of lists that `lists` does not name: by id, or shuffled by the seed. */
  order: order.default('ascending'),
  /** Content of a cursor: the id of the last returned item, or the number of returned items. */
  cursor: cursor.default('keyset'),
  lists: z.partialRecord(listName, listSettingSchema).default({}),
  /**
   * `plain`: a cursor depends only on its position. `signed`: it also has a time and a signature, so that no two
   * cursors are equal.
   */
  cursorText: z.enum(['plain', 'signed']).default('plain'),
  /**
   * Spelling of instants in UTC: `2026-11-21T08:00:00.000Z`, the same without a fraction of zeros, or with an offset
   * instead of `Z`.
   */
  instants: z.enum(['fraction', 'seconds', 'offset']).default('fraction'),
  /** The service's own maximum page size; a larger count is lowered to it without an error. */
  maxPerPage: z.int().min(1).max(300).default(300),
  /** The field of a create request with the subscription of a Team workspace. */
  subscriptionField: z.string().min(1).default('subscriptionId'),
  /** Name of a rejected registrant in the errors: `data[12].attendeeCode`, `data.12.attendeeCode`, `registrants[13].attendeeCode`
   * (counted from 1), `attendeeCode`, or not at all. */
  registrantErrors: z.enum(['indexed', 'dotted', 'from-one', 'named', 'none']).default('indexed'),
  registrantAtomicity: z.enum(['all-or-nothing', 'partial']).default('all-or-nothing'),
  /**
   * Handling of a registrant whose code exists. `refuse-row`: refused like any bad registrant. `refuse-chunk`: the
   * whole batch is refused, no registrant is named and none is created, regardless of `registrantAtomicity`. `ignore`:
   * the existing registrant stays unchanged. `upsert`: it is overwritten.
   */
  registrantDuplicates: z.enum(['refuse-row', 'refuse-chunk', 'ignore', 'upsert']).default('refuse-row'),
  registrantMaxBatch: z.int().min(1).default(1000),
  /** Maximum length of a registrant's values, apart from the code. */
  registrantMaxText: z.int().min(1).max(255).default(255),
  /** Effect of a withdrawal in live traffic: the question gets another status, or it leaves the lists. */
  withdrawal: z.enum(['status', 'remove']).default('status'),
  /** Share of live items that get an id below the newest one, as rows that commit late do. */
  lateRowShare: z.number().min(0).max(1).default(0),
  /** Relative frequency of each kind of live event instead of the default; 0 means never. */
  traffic: z.partialRecord(z.enum(EVENT_KINDS), z.number().min(0)).default({}),
  /** Delay of every answer of the service. */
  latencyMs: z.number().min(0).default(0),
  quota: z
    .strictObject({
      limit: z.int().min(0),
      windowSeconds: z.number().positive(),
      /** X-RateLimit-Limit, -Remaining and -Reset on every answer; `no-reset`: without the last. */
      headers: z.union([z.boolean(), z.literal('no-reset')]).default(true),
      /** Retry-After on a refused request. */
      retryAfter: z.boolean().default(false),
    })
    .nullable()
    .default(null),
});

export type Knobs = z.infer<typeof knobsSchema>;
export type Order = Knobs['order'];
export type CursorKind = Knobs['cursor'];
export type InstantSpelling = Knobs['instants'];
export type CursorText = Knobs['cursorText'];
