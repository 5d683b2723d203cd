import { z } from 'zod';
import { factsOf, type PageFrame, type ServiceAnswer } from './answer.js';
import { ApiError, type ApiErrorKind, type Call } from './api-error.js';
import { type ServiceListName, serviceTraits } from '../base/lists.js';
import type { Quota } from './response.js';
import { type WireItem, itemSchemas } from './wire-types.js';

/** One page of a list. */
export interface Page {
  /**
   * As received, including unknown fields. `irregular` names the items that do not have the shape of the list. They are
   * checked on first use, so that a walk can request the next page before.
   */
  readonly items: WireItem[];
  readonly irregular: Irregular[];
  /** The cursor of the request for this page; null for the first page. */
  readonly cursor: string | null;
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
  /** The page size that the service used, which may be less than the requested count. */
  readonly perPage: number;
  readonly requestId: string | null;
  /** Time of the request, in epoch milliseconds: the page shows the list at that time or later. */
  readonly requestedAt: number;
  readonly quota: Quota | null;
  /** Size of the body. */
  readonly bytes: number;
  /**
   * SHA-256, in hex, of the bytes of `data` as received: equal bytes are the same items in the same order. The envelope
   * is excluded because its cursor may differ each time. The digest is not keyed, so anyone who has it can test guesses
   * of `data` against it.
   */
  readonly digest: string;
}

/**
 * Larger page sizes are replaced by this one, because the store keeps the size in 32 bits. No page holds that many
 * items, so the replacement has no effect.
 */
const maxPerPage = 1_000_000_000;

/** The collection envelope, strict in the fields that a walk depends on. `links` is ignored. */
const envelopeSchema = z.object({
  data: z.array(z.unknown()),
  meta: z.object({
    hasMore: z.boolean(),
    nextCursor: z.string().nullable(),
    perPage: z.int().transform((count) => Math.min(Math.max(count, 0), maxPerPage)),
  }),
});

/**
 * Converts an answer into a page.
 * Source: docs/service-contract.md, "Pagination".
 * @throws {ApiError} kind `protocol` if the envelope is not as documented, or if it announces more pages and has no
 * items, no cursor, a cursor that is not text, or the cursor of this request; kind `transient` if the body is missing
 */
export function readPage(call: Call, list: ServiceListName, cursor: string | null, answer: ServiceAnswer): Page {
  const { frame, requestId, requestedAt, quota, bytes } = answer;
  const isKnown = frame !== undefined && !(frame.hasMore && frame.nextCursor === cursor); // else refused as usual
  const envelope = isKnown ? undefined : readEnvelope(call, cursor, answer);
  let checked: CheckedItems | undefined;
  const read = (): CheckedItems =>
    (checked ??= checkItems(list, (envelope ?? readEnvelope(call, cursor, answer)).data));
  return {
    get items() {
      return read().items;
    },
    get irregular() {
      return read().irregular;
    },
    cursor,
    ...(envelope?.frame ?? frame!),
    requestId,
    requestedAt,
    quota,
    bytes,
  };
}

/** Returns the items of a body, not checked yet, and the other parts of its page. */
function readEnvelope(
  call: Call,
  cursor: string | null,
  answer: ServiceAnswer,
): { readonly data: readonly unknown[]; readonly frame: PageFrame } {
  const broken = (problem: string, kind: ApiErrorKind = 'protocol'): ApiError =>
    new ApiError(call, { kind, problem, ...factsOf(answer), mayHaveTakenEffect: false });

  if (answer.body === undefined) throw broken('the answer has no body', 'transient');
  const envelope = envelopeSchema.safeParse(answer.body);
  if (!envelope.success) {
    const where = envelope.error.issues.map((issue) => issue.path.join('.') || 'the body').join(', ');
    throw broken(`the answer is not the documented collection envelope at ${where}`);
  }
  const { data, meta } = envelope.data;
  if (meta.hasMore) {
    if (meta.nextCursor === null || meta.nextCursor === '')
      throw broken('the service announced more pages without a cursor');
    if (meta.nextCursor === cursor)
      throw broken('the service announced more pages and returned the cursor of this page');
    if (data.length === 0) throw broken('the service announced more pages, but this page is empty');
    // URL encoding and the store would change such a cursor, so that it would point to another position.
    if (!isStorable(meta.nextCursor))
      throw broken('the service announced more pages with a cursor that is not valid text');
  }
  const { nextCursor, hasMore, perPage } = meta;
  return { data, frame: { nextCursor, hasMore, perPage, digest: answer.digest } };
}

/** Whether a text has neither U+0000 nor half a surrogate pair. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}

/** An element that breaks the contract. It never makes its page fail. */
interface Irregular {
  /** Position in `Page.items`; null if the element is not an object and was therefore left out. */
  readonly index: number | null;
  /** Field and expectation without the value: `attendee.anonymous: expected boolean`. */
  readonly problem: string;
  /** True if the id is missing or unusable, so that the item cannot be identified. */
  readonly lacksIdentity: boolean;
}

interface CheckedItems {
  readonly items: WireItem[];
  readonly irregular: Irregular[];
}

/**
 * Checks the elements of a page and returns every object as received, including the irregular ones. Discards the copies
 * that the schemas make, because a copy lacks the unknown fields, and an item is stored as the service wrote it.
 */
export function checkItems(list: ServiceListName, data: readonly unknown[]): CheckedItems {
  const schema = itemSchemas[list];
  const { idWithin } = serviceTraits[list];
  const items: WireItem[] = [];
  const irregular: Irregular[] = [];
  for (const element of data) {
    if (!isWireItem(element)) {
      irregular.push({ index: null, problem: 'the element is not an object', lacksIdentity: true });
      continue;
    }
    const checked = schema.safeParse(element);
    if (!checked.success) {
      irregular.push({
        index: items.length,
        problem: checked.error.issues.map(problemOf).join(', '),
        lacksIdentity: checked.error.issues.some((issue) => isIdentity(issue.path, idWithin)),
      });
    }
    items.push(element);
  }
  return { items, irregular };
}

function isWireItem(element: unknown): element is WireItem {
  return typeof element === 'object' && element !== null && !Array.isArray(element);
}

/**
 * Describes a problem by its path. A path contains only declared fields, because the schemas let all others pass, so it
 * never contains the name of a profile field.
 */
function problemOf(issue: z.core.$ZodIssue): string {
  return `${issue.path.join('.')}: ${issue.code === 'invalid_type' ? `expected ${issue.expected}` : issue.code}`;
}

/** Whether a path is that of the id, or of the object that should contain it. */
function isIdentity(path: readonly PropertyKey[], idWithin: string | null): boolean {
  if (idWithin === null) return path.length === 1 && path[0] === 'id';
  return path[0] === idWithin && (path.length === 1 || path[1] === 'id');
}
