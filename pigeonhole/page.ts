import { z } from 'zod';
import type { ServiceAnswer } from './answer.js';
import { ApiError, type Call } from './api-error.js';
import { checkItems, type Irregular } from './check-items.js';
import type { ListName } from './lists.js';
import type { Quota } from './quota.js';
import type { WireItem } from './wire-item.js';

/** One page of a list. */
export interface Page {
  /** As the service gave them, unknown fields included; see `irregular` for those that are not of the list's shape. */
  readonly items: WireItem[];
  readonly irregular: Irregular[];
  /** The cursor that this page was asked for with; null for the first. */
  readonly cursor: string | null;
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
  /** Page size in force at the service, which may be less than the count asked for. */
  readonly perPage: number;
  readonly requestId: string | null;
  /** When the request was made, epoch ms: the page shows the list as it was then or later. */
  readonly requestedAt: number;
  readonly quota: Quota | null;
  /** Size of the body. */
  readonly bytes: number;
  /**
   * SHA-256, in hex, of the bytes of `data` as they came: equal bytes are the same items in the same order. The envelope
   * is left out, since its cursor may differ each time. Not keyed: whoever has it can try bodies against it.
   */
  readonly digest: string;
}

/** The collection envelope, strict in what a walk depends on. `links` is not read at all. */
const envelopeSchema = z.object({
  data: z.array(z.unknown()),
  meta: z.object({ hasMore: z.boolean(), nextCursor: z.string().nullable(), perPage: z.int() }),
});

/**
 * Makes a page of an answer.
 * Source: docs/service-contract.md, "Pagination".
 * @throws {ApiError} kind `protocol` when the envelope is not the documented one, or announces more pages without a
 * way to them that leads forward: no cursor, one that is not text, the cursor just used, or no items on the way;
 * kind `transient` when the body is missing
 */
export function readPage(call: Call, list: ListName, cursor: string | null, answer: ServiceAnswer): Page {
  const broken = (problem: string): ApiError => new ApiError(call, { kind: 'protocol', problem, ...factsOf(answer) });

  if (answer.body === undefined) {
    throw new ApiError(call, { kind: 'transient', problem: 'the answer has no body', ...factsOf(answer) });
  }
  const envelope = envelopeSchema.safeParse(answer.body);
  if (!envelope.success) {
    const where = envelope.error.issues.map((issue) => issue.path.join('.') || 'the body').join(', ');
    throw broken(`the answer is not the documented collection envelope at ${where}`);
  }
  const { data, meta } = envelope.data;
  if (meta.hasMore) {
    if (meta.nextCursor === null || meta.nextCursor === '') throw broken('more pages were announced without a cursor');
    if (meta.nextCursor === cursor) throw broken('more pages were announced under the cursor just used');
    if (data.length === 0) throw broken('an empty page announced more pages');
    // A URL and the store would both change it on the way, and another cursor is another position.
    if (!isStorable(meta.nextCursor)) throw broken('more pages were announced under a cursor that is not text');
  }
  return {
    ...checkItems(list, data),
    cursor,
    nextCursor: meta.nextCursor,
    hasMore: meta.hasMore,
    perPage: meta.perPage,
    requestId: answer.requestId,
    requestedAt: answer.requestedAt,
    quota: answer.quota,
    bytes: answer.bytes,
    digest: answer.digest,
  };
}

/** No U+0000 and no half of a surrogate pair. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}

function factsOf(answer: ServiceAnswer) {
  return { status: answer.status, requestId: answer.requestId, quota: answer.quota, mayHaveTakenEffect: false };
}
