import { z } from 'zod';
import { LIST_NAMES } from '../list-name.js';
import { EVENT_KINDS } from '../world/traffic.js';

/**
 * Where the specification is silent, a knob decides, and its default is this sandbox's guess. `README.md` lists
 * them. A client must not depend on any of these answers, so tests turn them.
 */
const order = z.enum(['ascending', 'descending', 'unordered']);
const cursor = z.enum(['keyset', 'offset']);
const httpStatus = z.int().min(100).max(599);
const listName = z.enum(LIST_NAMES);

export const listSettingSchema = z.strictObject({ order: order.optional(), cursor: cursor.optional() });

export const knobsSchema = z.strictObject({
  /** Order of every list that `lists` does not name: by id, or a seeded shuffle. */
  order: order.default('ascending'),
  /** Content of a cursor: the id of the last item shown, or the number of items shown. */
  cursor: cursor.default('keyset'),
  lists: z.partialRecord(listName, listSettingSchema).default({}),
  /** A cursor that depends on the place alone, or one that is signed and carries its instant: never twice the same. */
  cursorText: z.enum(['plain', 'signed']).default('plain'),
  /** A count outside 1 to 300, or one that is no integer. */
  countOutOfRange: z.enum(['error', 'clamp', 'default']).default('error'),
  /** The service's own maximum page size; a larger count is lowered to it without an error. */
  maxPerPage: z.int().min(1).max(300).default(300),
  /** Code for a list that needs filter[sessionId] and did not get it. */
  missingSessionFilterCode: z.int().default(6000),
  /** A filter[sessionId] of a session that does not exist: 4509, an empty list, or as if it had not been sent. */
  unknownSessionFilter: z.enum(['error', 'empty', 'ignore']).default('error'),
  /** Filters a list supports, where it is not what the specification says; the others are ignored. */
  filterSupport: z.partialRecord(listName, z.array(z.string())).default({}),
  /** Whether links.next repeats the filters of the request. */
  nextLinkKeepsFilters: z.boolean().default(true),
  wrongMethodCode: z.int().default(9000),
  wrongMethodStatus: httpStatus.default(405),
  /** Status by code, for example {"4507": 404}. */
  httpStatus: z.record(z.string(), httpStatus).default({}),
  createdStatus: httpStatus.default(201),
  /** Status of a bulk create's empty answer. */
  bulkStatus: httpStatus.default(204),
  /** The field of a create body that carries the subscription of a Team workspace. */
  subscriptionField: z.string().min(1).default('subscriptionId'),
  /** Name of a rejected registrant in the errors: `data[12].attendeeCode`, `data.12.attendeeCode`, `registrants[13].attendeeCode`
   * (counted from 1), `attendeeCode`, or not at all. */
  registrantErrors: z.enum(['indexed', 'dotted', 'from-one', 'named', 'none']).default('indexed'),
  registrantAtomicity: z.enum(['all-or-nothing', 'partial']).default('all-or-nothing'),
  /**
   * A registrant whose code another one has: refused like any bad one, refused together with its whole batch and without
   * a place (nothing of it is created then, whatever `registrantAtomicity` says), left as it was without a word, or
   * written over.
   */
  registrantDuplicates: z.enum(['refuse-row', 'refuse-chunk', 'ignore', 'upsert']).default('refuse-row'),
  registrantMaxBatch: z.int().min(1).default(1000),
  /** Effect of a withdrawal in live traffic: the question gets another status, or it leaves the lists. */
  withdrawal: z.enum(['status', 'remove']).default('status'),
  /** Share of live items that appear with an id below the newest one, as a late commit would. */
  lateRowShare: z.number().min(0).max(1).default(0),
  /** Relative frequency of each kind of live event, in place of the default; 0 means never. */
  traffic: z.partialRecord(z.enum(EVENT_KINDS), z.number().min(0)).default({}),
  /** Every answer of the service waits this long. */
  latencyMs: z.number().min(0).default(0),
  /** Time by which the service's clock (Date header, quota reset) is ahead of this machine's. */
  clockSkewSeconds: z.number().default(0),
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
export type CursorText = Knobs['cursorText'];
