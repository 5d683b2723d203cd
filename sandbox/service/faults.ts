import { z } from 'zod';
import { LIST_NAMES, type ListName } from '../list-name.js';
import { draw, fraction } from '../world/random.js';
import { cursorsIssued } from './read-page.js';

/** Effects of a rule on matching requests. */
export const FAULT_KINDS = [
  /** Answers with the error `code`. The request has no effect. */
  'error',
  /** Answers with the error `code` after the request took effect: a POST has committed. */
  'errorAfter',
  /**
   * Answers 503 "Service Unavailable" as plain text, not counted in the quota. The vendor documents this throttling.
   */
  'text503',
  /** Delays the answer by `ms`. */
  'delay',
  /** Closes the connection before the request takes effect. */
  'dropBefore',
  /** Closes the connection after the request took effect, without an answer. */
  'dropAfter',
  /** Announces the whole body in Content-Length, sends half of it, and closes the connection. */
  'cutBody',
  /** Sends a correct body as `text/html`. */
  'wrongContentType',
  /** Sends HTML with the content type of JSON, as a proxy might. */
  'htmlBody',
  /** Sends the body in pieces over `ms`, as a slow server does. */
  'trickle',
  /**
   * Answers the error `code` to a request with a cursor issued before the rule was added (`issued: before`), or before
   * the last write to the list (`issued: beforeWrite`). Only signed cursors say when they were issued; all plain ones
   * are refused.
   */
  'staleCursor',
  /** Returns the cursor of this request as meta.nextCursor. Does not affect first pages. */
  'repeatCursor',
  /** Makes the last page announce more, with a cursor that leads back to the first page. */
  'circle',
  /** Makes the last page announce more, with a cursor that leads to the same page. */
  'lastPageAgain',
  /** Returns meta.hasMore true without a cursor. */
  'moreWithoutCursor',
  /** Returns no items but announces more. The cursor leads to the items that were left out. */
  'emptyPage',
  /** Returns meta.hasMore false although more pages exist. */
  'earlyEnd',
  /** Returns only the first `show` items of the page and announces no more, as if the list were complete. */
  'shortList',
  /** Ignores every filter of the request, including a required one. */
  'ignoreFilters',
  /** Answers as if the path named the pigeonhole `instead`, like a cache that mixes up its entries. */
  'otherPigeonhole',
  /** Spoils every row of the page as `as` says, so that nothing shows which item it is. */
  'badRows',
  /** Orders the rows differently in each walk. The cursor counts rows in the order of its walk. */
  'reorder',
  /** Inserts and removes items after page `afterPage` of a walk. Order and snapshots of lists are not documented. */
  'changeDuringWalk',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

export const faultSchema = z.strictObject({
  kind: z.enum(FAULT_KINDS),
  /** A request matches if every given field matches. */
  method: z.enum(['GET', 'POST']).optional(),
  list: z.enum(LIST_NAMES).optional(),
  /** Substring of the path. */
  path: z.string().optional(),
  pigeonhole: z.int().optional(),
  session: z.int().optional(),
  /** True: only later pages; false: only first pages. */
  hasCursor: z.boolean().optional(),
  /** True: only requests with a filter other than the session's; false: only requests without one. */
  filtered: z.boolean().optional(),
  /** Number of matching requests that pass before the rule takes effect. */
  skip: z.int().min(0).default(0),
  /** Number of requests that the rule affects; unlimited if absent. */
  next: z.int().min(1).optional(),
  /** Share of matching requests, decided by the seed. */
  rate: z.number().min(0).max(1).optional(),
  /** Affects every n-th matching request. */
  everyNth: z.int().min(1).optional(),
  /** Error code for `error`, `errorAfter` and `staleCursor`. */
  code: z.int().default(5000),
  /** Leaves the code out of the error's body. */
  withoutCode: z.boolean().default(false),
  /** HTTP status instead of the usual one for the code. */
  status: z.int().min(200).max(599).optional(),
  /** Retry-After for errors and text503: in seconds, as this text, or as an HTTP date this many seconds from now. */
  retryAfterSeconds: z.number().optional(),
  retryAfterText: z.string().optional(),
  retryAfterDateSeconds: z.number().optional(),
  /** The cursors that `staleCursor` refuses. */
  issued: z.enum(['before', 'beforeWrite']).default('before'),
  /** Number of cursors issued so far; set when a rule is added. */
  cursorsIssued: z.int().min(0).optional(),
  ms: z.number().min(0).default(1000),
  show: z.int().min(0).default(0),
  /** The pigeonhole whose answer `otherPigeonhole` sends. */
  instead: z.int().optional(),
  /**
   * The form of the ids in `badRows`: as text, null, beyond 2^53, the same in all rows, or the text only in the id of
   * the session. `nothing`: null in place of each row.
   */
  as: z.enum(['text', 'null', 'huge', 'same', 'session-text', 'nothing']).default('text'),
  afterPage: z.int().min(1).default(1),
  insert: z.int().min(0).default(0),
  remove: z.int().min(0).default(0),
  /** Side of the cursor for changes: `behind` for items already read, `ahead` for the others. */
  where: z.enum(['behind', 'ahead']).default('behind'),
});

export type FaultRule = z.infer<typeof faultSchema>;

/** Returns the Retry-After header of a rule; no header if the rule has none. */
export function retryAfterOf(
  rule: Pick<FaultRule, 'retryAfterSeconds' | 'retryAfterText' | 'retryAfterDateSeconds'>,
  nowMs: number,
): Record<string, string> {
  const { retryAfterSeconds, retryAfterText, retryAfterDateSeconds } = rule;
  const inSeconds = retryAfterSeconds === undefined ? undefined : String(retryAfterSeconds);
  const asDate =
    retryAfterDateSeconds === undefined ? undefined : new Date(nowMs + retryAfterDateSeconds * 1000).toUTCString();
  const text = retryAfterText ?? asDate ?? inSeconds;
  return text === undefined ? {} : { 'Retry-After': text };
}

/** Properties of a request that a rule can match. */
export interface FaultSubject {
  method: string;
  path: string;
  list: ListName | null;
  pigeonholeId: number | null;
  /** The value of filter[sessionId] as sent. */
  sessionFilter: string | null;
  hasCursor: boolean;
  /** Whether a filter other than the session's was sent. */
  filtered: boolean;
}

interface ActiveRule {
  id: number;
  rule: FaultRule;
  matched: number;
  fired: number;
  /** Number of pages that the current walk has received, for `changeDuringWalk`. */
  pages: number;
}

/** The active rules. The same seed, rules and requests in the same order cause the same faults. */
export class Faults {
  readonly #seed: number;
  #rules: ActiveRule[] = [];
  #nextId = 1;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Activates a rule and returns its id. */
  add(rule: FaultRule): number {
    const id = this.#nextId++;
    this.#rules.push({ id, rule: { ...rule, cursorsIssued: cursorsIssued() }, matched: 0, fired: 0, pages: 0 });
    return id;
  }

  /** Removes one rule or all rules; returns false if no rule has the id. */
  lift(id?: number): boolean {
    const before = this.#rules.length;
    this.#rules = id === undefined ? [] : this.#rules.filter((active) => active.id !== id);
    return id === undefined || this.#rules.length < before;
  }

  state(): (FaultRule & { id: number; matched: number; fired: number })[] {
    return this.#rules.map(({ id, rule: { cursorsIssued: _, ...rule }, matched, fired }) => ({
      ...rule,
      id,
      matched,
      fired,
    }));
  }

  /**
   * Counts the request and returns the rules that affect it, by kind. Of two rules of a kind, returns the older one.
   */
  fireFor(subject: FaultSubject): Map<FaultKind, FaultRule> {
    const firing = new Map<FaultKind, FaultRule>();
    for (const active of this.#rules) {
      if (!matches(active.rule, subject) || !this.#fires(active, subject)) continue;
      active.fired += 1;
      if (!firing.has(active.rule.kind)) firing.set(active.rule.kind, active.rule);
    }
    return firing;
  }

  #fires(active: ActiveRule, subject: FaultSubject): boolean {
    const { rule } = active;
    const ordinal = active.matched++;
    if (rule.kind === 'changeDuringWalk') {
      active.pages = subject.hasCursor ? active.pages + 1 : 1;
      if (active.pages !== rule.afterPage) return false;
    }
    if (ordinal < rule.skip) return false;
    if (rule.next !== undefined && active.fired >= rule.next) return false;
    if (rule.everyNth !== undefined && (ordinal - rule.skip + 1) % rule.everyNth !== 0) return false;
    return rule.rate === undefined || fraction(draw(this.#seed, 0xfa00 + active.id, ordinal)) < rule.rate;
  }
}

function matches(rule: FaultRule, subject: FaultSubject): boolean {
  if (rule.method !== undefined && rule.method !== subject.method) return false;
  if (rule.list !== undefined && rule.list !== subject.list) return false;
  if (rule.path !== undefined && !subject.path.includes(rule.path)) return false;
  if (rule.pigeonhole !== undefined && rule.pigeonhole !== subject.pigeonholeId) return false;
  if (rule.session !== undefined && String(rule.session) !== subject.sessionFilter) return false;
  if (rule.filtered !== undefined && rule.filtered !== subject.filtered) return false;
  return rule.hasCursor === undefined || rule.hasCursor === subject.hasCursor;
}

/**
 * Parses a rule of the command line: `kind=error,code=5000,rate=0.05,list=votes`.
 * @throws {Error} naming the invalid part
 */
export function parseFault(spec: string): FaultRule {
  const entries = spec.split(',').map((part): [string, string | number | boolean] => {
    const [key = '', value = ''] = part.split('=', 2);
    if (value === 'true' || value === 'false') return [key, value === 'true'];
    return [key, value !== '' && Number.isFinite(Number(value)) ? Number(value) : value];
  });
  const parsed = faultSchema.safeParse(Object.fromEntries(entries));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(
    `--fault "${spec}": ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}; give key=value pairs such as kind=error,code=5000,next=3`,
  );
}
