import type { Ledger } from '../ledger/ledger.js';
import { type AuditEntry, type RequestedAction, recordRequest, recordResult, auditEntries } from '../ledger/audit.js';
import type { ApiContext, ApiApp } from './api-app.js';
import { Refused } from './problem.js';
import { createRoute, z } from '@hono/zod-openapi';
import { answers, needs, withIsoInstants, pageOf, pageQuery, positionOf, pagesBy } from './route-parts.js';
import { printable, instant } from '../base/printable.js';
import { requireEveryWorkspace } from './scope.js';

/** One request as the audit log records it. */
interface Audited<Result> {
  readonly action: string;
  readonly target: string | null;
  readonly detail?: RequestedAction['detail'];
  readonly subject?: Buffer | null;
  /**
   * Set for actions that change nothing lasting and are open to any token. Each one counts against the limit, whether
   * done or refused.
   */
  readonly changesNothing?: boolean;
  /** Whether the action failed although the request is answered with its result; by default it never does. */
  readonly hasFailed?: (result: Result) => boolean;
}

/**
 * Runs an action and records it in the audit log: the request before the action, so that no action is unrecorded, and
 * the outcome afterwards. If the process dies in between, the log has the action without an outcome.
 * @throws {Refused} 429 once a named token has had too many requests of this action refused: see RefusedActions
 */
export async function audited<Result>(
  c: ApiContext,
  ledger: Ledger,
  { action, target, detail = {}, subject = null, changesNothing = false, hasFailed = () => false }: Audited<Result>,
  work: () => Promise<Result>,
): Promise<Result> {
  const { name: who, token } = c.get('caller');
  const requestId = c.get('requestId');
  const kind = token === null ? undefined : `${token} ${action}`; // the administrator's token may do everything
  const refusedActions = c.get('refusedActions');
  if (kind !== undefined) refusedActions.admit(kind);
  const asked = await recordRequest(ledger, { who, token, action, target, detail, subject, requestId });
  c.set('audited', asked);
  try {
    const result = await work();
    if (kind !== undefined && changesNothing) refusedActions.count(kind);
    await recordResult(ledger, asked, { outcome: hasFailed(result) ? 'failed' : 'done', status: 200, requestId });
    return result;
  } catch (error) {
    const refused = error instanceof Refused && error.status < 500;
    const status = error instanceof Refused ? error.status : 500;
    if (kind !== undefined && refused) refusedActions.count(kind);
    await recordResult(ledger, asked, { outcome: refused ? 'refused' : 'failed', status, requestId });
    throw error;
  }
}

const againAfterMs = 10 * 60_000;
const hourMs = 60 * 60_000;
/** Maximum lines in an hour. The audit log keeps its rows for ever, so events that anyone can cause must not fill it. */
const maxPerHour = 120;

/**
 * Decides which of many similar events get a line in the audit log: one of each kind in ten minutes, and 120 in an
 * hour.
 */
export class BoundedNotes {
  readonly #noted = new Map<string, number>();
  readonly #now: () => number;
  #hourEnds = 0;
  #left = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether an event gets a line. If so, the line is counted. @param kind name that similar events share */
  take(kind: string): boolean {
    const now = this.#now();
    if (now >= this.#hourEnds) {
      this.#hourEnds = now + hourMs;
      this.#left = maxPerHour;
      for (const [known, at] of this.#noted) if (now - at >= againAfterMs) this.#noted.delete(known);
    }
    const last = this.#noted.get(kind);
    if (this.#left === 0 || (last !== undefined && now - last < againAfterMs)) return false;
    this.#left -= 1;
    this.#noted.set(kind, now); // old kinds are removed once an hour, so the map does not grow without limit
    return true;
  }
}

const windowMs = 60 * 60_000;
const maxRefused = 120;

interface Counted {
  count: number;
  endsAt: number;
}

/**
 * Limits the lines that a named token can add to the audit log with requests that change nothing. Each such request
 * adds two lines, because an action is recorded before it runs. After 120 requests for one action within an hour,
 * further ones are refused before they are recorded. Other actions of the token are not affected.
 */
export class RefusedActions {
  readonly #counted = new Map<string, Counted>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param kind token and action. @throws {Refused} 429 */
  admit(kind: string): void {
    const found = this.#current(kind);
    if (found === undefined || found.count < maxRefused) return;
    const waitMs = found.endsAt - this.#now();
    throw new Refused(
      429,
      `${maxRefused} requests of this kind were refused within the last hour: correct the request, and send it again in ${Math.ceil(waitMs / 60_000)} min`,
      { headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } },
    );
  }

  /** Counts a request that changed nothing. */
  count(kind: string): void {
    const found = this.#current(kind);
    if (found === undefined) this.#counted.set(kind, { count: 1, endsAt: this.#now() + windowMs });
    else found.count += 1;
  }

  #current(kind: string): Counted | undefined {
    const found = this.#counted.get(kind);
    if (found === undefined || this.#now() < found.endsAt) return found;
    this.#counted.delete(kind);
    return undefined;
  }
}

const auditEntrySchema = z
  .object({
    number: z.int(),
    at: instant(),
    who: z.string().describe('Name of the token; `server.token`; `local` if no token was needed.'),
    token: z.string().nullable().describe('ID of a named token.'),
    action: z.string(),
    target: z.string().nullable(),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    requestId: z.string().describe('`X-Request-Id` of the response.'),
    outcome: z
      .enum(['done', 'refused', 'failed'])
      .nullable()
      .describe('Null: the request is in progress, or its process ended before the response.'),
    status: z.int().nullable(),
    endedAt: instant().nullable(),
  })
  .openapi('AuditEntry');
export type AuditEntryView = z.infer<typeof auditEntrySchema>;

const word = printable(200).optional();

export const auditRoute = createRoute({
  method: 'get',
  path: '/api/audit',
  operationId: 'listAudit',
  tags: ['Audit log'],
  summary: 'List audited requests and their results, newest first',
  ...needs({ right: 'administer' }),
  request: {
    query: z.strictObject({
      ...pageQuery,
      who: word,
      action: word,
      target: word,
      from: positionOf.instant.optional().describe('Only requests at this instant or later.'),
      until: positionOf.instant.optional().describe('Only requests before this instant.'),
    }),
  },
  responses: answers('One page of the log.', pageOf(auditEntrySchema)),
});

const pages = pagesBy(z.tuple([positionOf.int8]), ({ number }: AuditEntry) => [number]);

export function serveAuditLog(app: ApiApp, { ledger }: { readonly ledger: Ledger }): void {
  app.openapi(auditRoute, async (c) => {
    const { limit, after, who, action, target, from, until } = c.req.valid('query');
    requireEveryWorkspace(c);
    const last = pages.endOf(after);
    const rows = await auditEntries(
      ledger,
      { who: who ?? null, action: action ?? null, target: target ?? null, from, until },
      { before: last?.[0] ?? null, limit: limit + 1 },
    );
    return c.json(pages.page(rows, limit, withIsoInstants), 200);
  });
}
