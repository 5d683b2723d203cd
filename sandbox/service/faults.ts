import { z } from 'zod';
import { LIST_NAMES, type ListName } from '../list-name.js';
import { draw, fraction } from '../world/random.js';

/** Effect of a rule on the requests that it matches. If the idea is not obvious, a comment gives its origin. */
export const FAULT_KINDS = [
  /** The error of `code`, before anything happens. */
  'error',
  /** The error of `code` after the effect: a POST has committed. */
  'errorAfter',
  /** 503 "Service Unavailable" as plain text, not counted in the quota. The vendor's documented throttling. */
  'text503',
  /** The answer waits `ms`. */
  'delay',
  /** The connection closes before anything happens. */
  'dropBefore',
  /** The connection closes after the effect, without an answer. */
  'dropAfter',
  /** Content-Length announces the whole body, half of it is sent, the connection closes. */
  'cutBody',
  /** A correct body as `text/html`. */
  'wrongContentType',
  /** A body of HTML where JSON is announced, as a proxy in between may send. */
  'htmlBody',
  /** meta.nextCursor is the cursor of this very request (first pages pass unharmed). */
  'repeatCursor',
  /** The last page announces more, and its cursor leads back to the first page. */
  'circle',
  /** The last page announces more, and its cursor leads to that page again. */
  'lastPageAgain',
  /** meta.hasMore is true and there is no cursor. */
  'moreWithoutCursor',
  /** No items, yet more pages; the cursor leads to what this page would have shown. */
  'emptyPage',
  /** meta.hasMore is false although there is more. */
  'earlyEnd',
  /** The first `show` items of the page and no more pages, as if the list held nothing else. */
  'shortList',
  /** Every filter of the request counts as not sent, a required one included. */
  'ignoreFilters',
  /** Items come and go after page `afterPage` of a walk. List order and snapshots are undocumented. */
  'changeDuringWalk',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

export const faultSchema = z.strictObject({
  kind: z.enum(FAULT_KINDS),
  /** A request matches if every given field matches. */
  method: z.enum(['GET', 'POST']).optional(),
  list: z.enum(LIST_NAMES).optional(),
  /** Part of the path. */
  path: z.string().optional(),
  pigeonhole: z.int().optional(),
  session: z.int().optional(),
  /** True: later pages only; false: first pages only. */
  hasCursor: z.boolean().optional(),
  /** True: requests with a filter other than the session's only; false: without one only. */
  filtered: z.boolean().optional(),
  /** Number of matching requests that pass before the rule takes effect. */
  skip: z.int().min(0).default(0),
  /** Number of requests that the rule affects; unlimited if absent. */
  next: z.int().min(1).optional(),
  /** Share of matching requests, decided by the seed. */
  rate: z.number().min(0).max(1).optional(),
  /** Fires on every n-th matching request. */
  everyNth: z.int().min(1).optional(),
  /** Error code for `error` and `errorAfter`. */
  code: z.int().default(5000),
  /** HTTP status in place of the code's usual one. */
  status: z.int().min(200).max(599).optional(),
  /** Retry-After in seconds, for errors and text503. */
  retryAfterSeconds: z.number().optional(),
  ms: z.number().min(0).default(1000),
  show: z.int().min(0).default(0),
  afterPage: z.int().min(1).default(1),
  insert: z.int().min(0).default(0),
  remove: z.int().min(0).default(0),
  /** On which side of the cursor items come and go: among those already read, or those still to be read. */
  where: z.enum(['behind', 'ahead']).default('behind'),
});

export type FaultRule = z.infer<typeof faultSchema>;

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
  /** Pages that the present walk has been given, for `changeDuringWalk`. */
  pages: number;
}

/** The faults in force. The same seed, rules and requests in the same order give the same faults. */
export class Faults {
  readonly #seed: number;
  #rules: ActiveRule[] = [];
  #nextId = 1;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Puts a rule in force and returns its id. */
  add(rule: FaultRule): number {
    const id = this.#nextId++;
    this.#rules.push({ id, rule, matched: 0, fired: 0, pages: 0 });
    return id;
  }

  /** Lifts one rule, or all; false when there is no rule with that id. */
  lift(id?: number): boolean {
    const before = this.#rules.length;
    this.#rules = id === undefined ? [] : this.#rules.filter((active) => active.id !== id);
    return id === undefined || this.#rules.length < before;
  }

  state(): (FaultRule & { id: number; matched: number; fired: number })[] {
    return this.#rules.map(({ id, rule, matched, fired }) => ({ ...rule, id, matched, fired }));
  }

  /** The rules that fire for a request, by kind; of two of one kind the older one. Counts the request. */
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
 * Reads a rule as a command line gives it: `kind=error,code=5000,rate=0.05,list=votes`.
 * @throws {Error} naming the part that is wrong
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
