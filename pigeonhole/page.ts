import { z } from 'zod';
import type { ServiceAnswer } from './answer.js';
import { ApiError, type Call } from './api-error.js';
import type { ListName } from './lists.js';
import type { Quota } from './response-headers.js';
import { type WireItem, itemShapes } from './wire-types.js';

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

/** An element that is not what the contract says. Never fatal for its page. */
interface Irregular {
  /** Position in `Page.items`; null when the element is no object and therefore not among them. */
  readonly index: number | null;
  /** Field and expectation, without the value: `attendee.anonymous: expected boolean`. */
  readonly problem: string;
  /** True when the list's id is missing or unusable, so that the item cannot be told from others. */
  readonly lacksIdentity: boolean;
}

interface CheckedItems {
  readonly items: WireItem[];
  readonly irregular: Irregular[];
}

/**
 * Checks the elements of a page and keeps every object as it came, the irregular ones included. The parsed copies that
 * the schemas make are dropped: they order known fields first, and an item is stored as the service wrote it.
 */
export function checkItems(list: ListName, data: readonly unknown[]): CheckedItems {
  const { schema, idWithin } = itemShapes[list];
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

/** Paths name declared fields alone (the schemas let all others pass), so no profile field can stand in one. */
function problemOf(issue: z.core.$ZodIssue): string {
  return `${issue.path.join('.')}: ${issue.code === 'invalid_type' ? `expected ${issue.expected}` : issue.code}`;
}

/** The id itself, or the object that should hold it. */
function isIdentity(path: readonly PropertyKey[], idWithin: string | null): boolean {
  if (idWithin === null) return path.length === 1 && path[0] === 'id';
  return path[0] === idWithin && (path.length === 1 || path[1] === 'id');
}

/** The envelope's `meta` and `links` behind the items, with room to spare. */
const endBytes = 2000;
/** `meta` of a page that others follow. An opaque cursor is base64 (RFC 4648), in either alphabet. */
const hasMore = /"hasMore"\s*:\s*true\b/;
const nextCursor = /"nextCursor"\s*:\s*"([A-Za-z0-9+/=_-]+)"/g;

/**
 * The cursor of the page after, from the end of a body that is not parsed yet: parsing a page takes milliseconds, in
 * which the service could already be at work. A guess: an item's own field may look like it, so nothing but a
 * request may rest on it, and what the parsed page says decides.
 * @returns undefined where the end of the body does not show one
 */
export function peekNextCursor(body: Uint8Array): string | undefined {
  const end = body.subarray(Math.max(0, body.byteLength - endBytes));
  const text = Buffer.from(end.buffer, end.byteOffset, end.byteLength).toString('latin1');
  const cursor = hasMore.test(text) ? [...text.matchAll(nextCursor)].at(-1)?.[1] : undefined;
  // A copy: as a part of `text`, which V8 would keep with it, each cursor that a long walk remembers takes 2 KB.
  return cursor === undefined ? undefined : Buffer.from(cursor, 'latin1').toString('latin1');
}
