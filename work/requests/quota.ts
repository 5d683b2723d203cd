import type { Ledger } from '../../ledger/ledger.js';

/** Priority of a request, highest first. It matters if the quota does not suffice for all requests. */
export type Priority = 'import' | 'live' | 'idle' | 'sweep';

/** State of an API key's quota, by the database's clock. */
export interface QuotaState {
  /** Requests per window; null: not known. */
  readonly limit: number | null;
  /** True if the service reported the limit, false if it was learnt from a refusal. */
  readonly limitReported: boolean;
  /**
   * Upper bound of the requests that remain in this window; null: not known, or after a refusal until a probe succeeds.
   */
  readonly remaining: number | null;
  readonly used: number;
  readonly usedImports: number;
  readonly usedIdle: number;
  readonly usedSweeps: number;
  readonly window: number;
  /** Maximum time until the next window starts. */
  readonly resetInMs: number;
  /**
   * Time for which the remaining requests have to last: until the reset, or an estimate if the service reports none.
   */
  readonly planInMs: number;
  /** True if the service reported the reset; otherwise `resetInMs` is the longest that the window can last. */
  readonly resetReported: boolean;
  /** Consecutive refusals; concurrent ones count as one. */
  readonly refusals: number;
  /** Time until the next request may be made; 0: now. */
  readonly waitMs: number;
  /** Time after which an exclusive request in progress counts as ended; 0: there is none. */
  readonly exclusiveMs: number;
}

const windowEnd = `coalesce(reset_at, window_from + window_ms * interval '1 millisecond')`;
const isOver = `${windowEnd} <= now()`;
/** A learnt limit expires: the plan may have changed, or another client may have stopped using the key. */
const limitNow = `case when ${isOver} and limit_until <= now() then null else request_limit end`;
const leftNow = `case when ${isOver} then ${limitNow} else remaining end`;
const millisecondsTo = (instant: string): string =>
  `greatest(0, coalesce(extract(epoch from ${instant} - now()) * 1000, 0))::float8`;

const usedNow = (name: string): string => `(case when ${isOver} then 0 else ${name} end)`;

/**
 * Length of a window: the longest reported time until a reset. It bounds the wait in a later window for which the
 * service reports no reset. An estimate that is too short costs one refusal, which the service does not count.
 */
const reportedWindow = (resetInMs: string): string =>
  `greatest(case when window_told then window_ms else 1000 end, ${resetInMs}::float8::int8)`;

/** Default of the column `window_ms`: the service has reported no reset, and no window was seen to end. */
const unknownWindowMs = 86_400_000;
/** In a window of unknown length, the remaining requests have to last at least this long. */
const minPlanMs = 60_000;
/**
 * In such a window, the remaining requests have to last this many times as long as the window has lasted so far
 * (decision 0013).
 */
const planAhead = 4;
const planEnd = `case when reset_at is null and not window_told and window_ms >= ${unknownWindowMs}
    then least(${windowEnd},
      now() + greatest(${planAhead} * (now() - window_from), ${minPlanMs} * interval '1 millisecond'))
    else ${windowEnd} end`;

/** The columns of a `QuotaState`. */
const columns = `${limitNow} as "limit", limit_until is null as "limitReported", ${leftNow} as remaining,
  ${usedNow('used')} as used, ${usedNow('used_imports')} as "usedImports", ${usedNow('used_idle')} as "usedIdle",
  ${usedNow('used_sweeps')} as "usedSweeps", window_number as "window", ${millisecondsTo(windowEnd)} as "resetInMs",
  ${millisecondsTo(planEnd)} as "planInMs", reset_at is not null as "resetReported", refusals,
  ceil(${millisecondsTo('wait_until')}) as "waitMs", ${millisecondsTo('alone_until')} as "exclusiveMs"`;

/**
 * Lets the statement commit without waiting for the disk (decision 0013). If the database crashes and loses the count,
 * the service's next response corrects it.
 */
const withoutWaiting = `set_config('synchronous_commit', 'off', true) = 'off'`;

/** After this time, an exclusive request has ended even if its process has crashed: a request's deadline is 30 s. */
const maxExclusiveMs = 35_000;
/**
 * If the service reports limit and remaining requests but no reset, an increase of the remaining requests shows a new
 * window. The increase has to exceed what responses arriving out of order can cause.
 */
export const refilled = { atLeast: 20, partOfLimit: 10 } as const;
const clearlyMore = (limit: string): string => `greatest(${refilled.atLeast}, ${limit} / ${refilled.partOfLimit})`;
/** Minimum length of a window whose end was detected by such an increase. */
const shortestRefillMs = 60_000;
/** The number of windows for which a learnt limit is used. */
const learntForWindows = 7;
/**
 * Two reports of the same reset may differ by up to this much: the service rounds to whole seconds, and responses take
 * time.
 */
export const sameWindowMs = 5000;

/** Returns the state of a key's quota. Creates its row on the first call. */
export async function readQuota(ledger: Ledger, fingerprint: string): Promise<QuotaState> {
  const select = `select ${columns} from quotas where fingerprint = $1`;
  const [row] = await ledger.db.query<QuotaState>(select, [fingerprint]);
  if (row !== undefined) return row;
  await ledger.db.query('insert into quotas (fingerprint) values ($1) on conflict (fingerprint) do nothing', [
    fingerprint,
  ]);
  const [created] = await ledger.db.query<QuotaState>(select, [fingerprint]);
  return created!;
}

/** Returns the known quotas of these keys by fingerprint. */
export async function readQuotas(ledger: Ledger, fingerprints: readonly string[]): Promise<Map<string, QuotaState>> {
  const rows = await ledger.db.query<QuotaState & { fingerprint: string }>(
    `select fingerprint, ${columns} from quotas where fingerprint = any($1::text[])`,
    [fingerprints],
  );
  return new Map(rows.map(({ fingerprint, ...state }) => [fingerprint, state]));
}

/**
 * Takes permits for the next requests, with one short statement before them. The first permit after a reset starts a
 * new window.
 * @param terms.count maximum number of permits
 * @param terms.limit the limit for which the caller computed the terms; no permit if the limit has changed
 * @param terms.mustRemain requests that must still be left after these
 * @param terms.exclusiveBelow at or below this many remaining requests, and after a refusal, requests are made one at a
 *   time
 * @returns null if there is no permit; `readQuota` shows why
 */
export async function spendPermits(
  ledger: Ledger,
  fingerprint: string,
  priority: Priority,
  terms: {
    readonly count: number;
    readonly limit: number | null;
    readonly mustRemain: number;
    readonly exclusiveBelow: number;
  },
): Promise<{ readonly granted: number; readonly state: QuotaState } | null> {
  const count = (name: string, kind: Priority): string =>
    `${name} = ${usedNow(name)} + (case when $2 = '${kind}' then granted else 0 end)`;
  const isExclusive = `(refusals > 0 or ${leftNow} <= $5::int)`;
  const [row] = await ledger.db.query<QuotaState & { granted: number }>(
    `update quotas set
       request_limit = ${limitNow}, remaining = ${leftNow} - granted,
       limit_until = case when ${isOver} and limit_until <= now() then null else limit_until end,
       used = ${usedNow('used')} + granted,
       ${count('used_imports', 'import')}, ${count('used_idle', 'idle')}, ${count('used_sweeps', 'sweep')},
       unsure = ${usedNow('unsure')},
       window_number = window_number + (case when ${isOver} then 1 else 0 end),
       window_whole = window_whole or (reset_at is not null and ${isOver}),
       window_from = case when ${isOver} then now() else window_from end,
       reset_at = case when ${isOver} then null else reset_at end,
       wait_until = null,
       alone_until = case when ${isExclusive} then now() + ${maxExclusiveMs} * interval '1 millisecond' else alone_until end
     from (
       select fingerprint as locked, case when ${isExclusive} then (case when $6::int = 1 then 1 else 0 end)
           when ${limitNow} is null or ${leftNow} is null then $6::int
           else least($6::int, ${leftNow} - greatest($4::int, case when $6::int > 1 then $5::int else 0 end)) end as granted
       from quotas where fingerprint = $1 for update
     ) permits
     where fingerprint = locked and granted > 0 and ${withoutWaiting}
       and (wait_until is null or wait_until <= now())
       and (${limitNow} is not distinct from $3::int)
       and (${limitNow} is null or ${leftNow} is null or ${leftNow} > $4::int)
       and (${isExclusive} is not true or alone_until is null or alone_until <= now())
     returning ${columns}, granted`,
    [fingerprint, priority, terms.limit, terms.mustRemain, terms.exclusiveBelow, terms.count],
  );
  if (row === undefined) return null;
  const { granted, ...state } = row;
  return { granted, state };
}

/** The permit under which a request was made. */
export interface SpentPermit {
  readonly priority: Priority;
  readonly window: number;
  /** True if the request was made after a refusal, to find out whether the service accepts requests again. */
  readonly probe: boolean;
  /** True if the request is exclusive: no other request may be in progress at the same time. */
  readonly exclusive: boolean;
}

/** The quota as a response reports it; null where it reports nothing. */
interface QuotaReading {
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resetInMs: number | null;
}

/**
 * Stores the quota that a response reports. Within a window, the lower of the known and the reported number of
 * remaining requests is kept; if the limit is new, what is left of it after the counted requests is the known number.
 * A later reset than the known one, a successful probe after a refusal, a new limit that the count does not fit, or
 * (without a reset) an increase of the remaining requests means that a new window has started. A probe that
 * reports the known reset was allowed by an operator within the window (`allowProbe`): the window continues.
 */
export async function noteAnswer(
  ledger: Ledger,
  fingerprint: string,
  permit: SpentPermit,
  reported: QuotaReading,
): Promise<QuotaState> {
  const isSameReset = `coalesce(abs(extract(epoch from reset_at - now()) * 1000 - $7::float8) <= ${sameWindowMs}, false)`;
  const isFullAgain = `($3::boolean and coalesce(refused_window = window_number, false) and not ${isSameReset})`;
  // `allowProbe` removes the number of remaining requests, but first counts the others as used.
  const knownLeft = `case when $3::boolean then coalesce(remaining, request_limit - used) else remaining end`;
  const isOwn = `window_number = $2::int`;
  const isRefilled = `coalesce(${isOwn} and reset_at is null and $7::float8 is null
    and coalesce($5::int, request_limit) = request_limit
    and $6::int > ${knownLeft} + ${clearlyMore('request_limit')}, false)`;
  const corrects = `($5::int is not null and $5::int is distinct from request_limit)`;
  // With a new limit, the count exceeds the limit, or clearly exceeds what the service counted. So it includes requests
  // of an earlier window, and a new one has started.
  const isNewlyLimited = `coalesce(${corrects}
    and (used > $5::int or used - ($5::int - $6::int) > ${clearlyMore('$5::int')}), false)`;
  const isAnother = `(${isFullAgain} or ${isRefilled} or ${isNewlyLimited} or coalesce(reset_at + ${sameWindowMs} * interval '1 millisecond'
    < now() + $7::float8 * interval '1 millisecond', false))`;
  const limit = `coalesce($5::int, request_limit, used + $6::int)`;
  const lasted = `(extract(epoch from now() - window_from) * 1000)::int8`;
  const windowMs = `(case when $7::float8 is not null then ${reportedWindow('$7')}
    when ${isFullAgain} and reset_at is null then least(window_ms, ${lasted})
    when ${isRefilled} then least(window_ms, greatest(${shortestRefillMs}, ${lasted}))
    else window_ms end)`;
  const [row] = await ledger.db.query<QuotaState>(
    `update quotas set
       request_limit = ${limit},
       limit_until = case when limit_until is null or $5::int is not null or $6::int is not null then null
         -- windows may turn out to be much shorter than assumed when the limit was learnt
         else least(limit_until, now() + ${windowMs} * ${learntForWindows} * interval '1 millisecond') end,
       remaining = case
         when ${isAnother} then coalesce($6::int, ${limit} - 1)
         when not ${isOwn} then remaining
         when $3::boolean then coalesce($6::int, ${limit} - used)
         when remaining is null and refusals > 0 then null -- a response from before the refusal: the probe decides
         -- the count includes requests in progress that the service has not counted yet
         when ${corrects} then least($6::int, $5::int - used)
         else least(remaining, $6::int) end,
       used = case when ${isAnother} then greatest(0, coalesce($5::int - $6::int, 1)) else used end,
       used_imports = case when ${isAnother} then 0 else used_imports end,
       used_idle = case when ${isAnother} then 0 else used_idle end,
       used_sweeps = case when ${isAnother} then 0 else used_sweeps end,
       unsure = case when ${isAnother} then 0 else unsure end,
       window_number = window_number + (case when ${isAnother} then 1 else 0 end),
       window_whole = window_whole or ${isAnother},
       window_ms = ${windowMs},
       window_told = window_told or $7::float8 is not null,
       window_from = case when ${isAnother} then now() else window_from end,
       reset_at = case when $7::float8 is not null and (${isOwn} or ${isAnother})
           then now() + $7::float8 * interval '1 millisecond'
         when ${isAnother} then null else reset_at end,
       refusals = case when $3::boolean or ${isAnother} then 0 else refusals end,
       wait_until = case when $3::boolean or ${isAnother} then null else wait_until end,
       alone_until = case when $4::boolean then null else alone_until end
     where fingerprint = $1 and ${withoutWaiting} returning ${columns}`,
    [
      fingerprint,
      permit.window,
      permit.probe,
      permit.exclusive,
      reported.limit,
      reported.remaining,
      reported.resetInMs,
    ],
  );
  return row!;
}

/**
 * Drops the limit that the service reported, because it has stopped reporting one. Otherwise a new plan without a
 * limit, or a proxy that strips headers, would make pigeonpost wait for the end of a window that does not exist.
 */
export async function forgetReportedLimit(ledger: Ledger, fingerprint: string): Promise<QuotaState> {
  const [row] = await ledger.db.query<QuotaState>(
    `update quotas set request_limit = case when limit_until is null then null else request_limit end,
       remaining = case when limit_until is null then null else remaining end,
       reset_at = case when limit_until is null then null else reset_at end
     where fingerprint = $1 returning ${columns}`,
    [fingerprint],
  );
  return row!;
}

/**
 * Stores that the service refused a request because the quota is used up (code 8000). The refused request does not
 * count. If the service reports no limit, and the start of the window was observed, the number of requests that
 * certainly arrived in the window becomes the limit (a learnt limit).
 */
export async function noteRefusal(
  ledger: Ledger,
  fingerprint: string,
  permit: SpentPermit,
  refusal: QuotaReading & { readonly waitMs: number },
): Promise<QuotaState> {
  const isOwn = `window_number = $2::int`;
  const counted = `greatest(0, used - (case when ${isOwn} then 1 else 0 end))`;
  // A gateway may refuse a request without reporting a quota, or the service although requests remain. After the wait,
  // a probe shows whether they do; to wait for the reset could take a day.
  const isUsedUp = `(case when $8::int > 0 then false when $6::float8 is not null then true
    else coalesce(reset_at <= now() + ($7::float8 + ${sameWindowMs}) * interval '1 millisecond', false) end)`;
  const learns = `($5::int is null and window_whole and ${isOwn} and ${counted} > unsure
    and (request_limit is null or limit_until is not null))`;
  const [row] = await ledger.db.query<QuotaState>(
    `update quotas set
       request_limit = case when ${learns} then ${counted} - unsure else coalesce($5::int, request_limit) end,
       limit_until = case when ${learns} then now() + window_ms * ${learntForWindows} * interval '1 millisecond'
         when $5::int is not null then null else limit_until end,
       used = least(${counted}, $5::int),
       window_ms = case when $6::float8 is not null then ${reportedWindow('$6')} else window_ms end,
       window_told = window_told or $6::float8 is not null,
       remaining = case when ${isUsedUp} then 0 end, -- else: probe
       reset_at = case when $6::float8 is null then reset_at else now() + $6::float8 * interval '1 millisecond' end,
       refusals = case when $3::boolean or refusals = 0 then refusals + 1 else refusals end,
       refused_window = window_number,
       wait_until = greatest(wait_until, now() + $7::float8 * interval '1 millisecond'),
       alone_until = case when $4::boolean then null else alone_until end
     where fingerprint = $1 returning ${columns}`,
    [
      fingerprint,
      permit.window,
      permit.probe,
      permit.exclusive,
      refusal.limit,
      refusal.resetInMs,
      refusal.waitMs,
      refusal.remaining,
    ],
  );
  return row!;
}

/**
 * Stores that no request remains and the service reports no reset, so that a probe follows after the wait, as after a
 * refusal. Only the first of several concurrent calls has an effect.
 */
export async function noteUsedUp(ledger: Ledger, fingerprint: string, waitMs: number): Promise<QuotaState> {
  await ledger.db.query(
    `update quotas set remaining = null, refusals = refusals + 1, refused_window = window_number,
       wait_until = now() + $2::float8 * interval '1 millisecond'
     where fingerprint = $1 and remaining <= 0 and reset_at is null and (wait_until is null or wait_until <= now())`,
    [fingerprint, waitMs],
  );
  return await readQuota(ledger, fingerprint);
}

/**
 * Allows one request of any priority now, to find out whether the quota was raised or renewed. Called when an operator
 * says that it was. Changes nothing if requests are possible now and the limit is unknown or learnt, because the
 * response would not report what remains. Unless the service refused a request before, a success does not start
 * a new window: what imports have used in this window still counts.
 * @param reserve share of the limit that is reserved for imports, 0 to 1
 */
export async function allowProbe(ledger: Ledger, fingerprint: string, reserve: number): Promise<void> {
  await ledger.db.query(
    `update quotas set used = greatest(used, coalesce(request_limit - remaining, 0)), remaining = null,
       refusals = greatest(refusals, 1), wait_until = null, alone_until = null
     where fingerprint = $1 and (wait_until > now() or (request_limit is not null and limit_until is null)
       or remaining <= greatest(0, ceil(coalesce(request_limit, 0) * $2::float8) - used_imports))`,
    [fingerprint, reserve],
  );
}

/**
 * Stores that a request ended without a response that reports the quota.
 * @param counted false: the service did not count it, so the permit is returned; `unsure`: it may not have arrived
 * @param requests number of requests, all under such a permit
 */
export async function notePassed(
  ledger: Ledger,
  fingerprint: string,
  permit: SpentPermit,
  counted: boolean | 'unsure',
  requests = 1,
): Promise<void> {
  const back = `(case when $2::text <> 'false' or window_number <> $3::int then 0 else $6::int end)`;
  // The limit was learnt in this window, from a count that included this request.
  const wasLearntHere = `$2::text <> 'true' and window_number = $3::int and refused_window = window_number
    and limit_until is not null`;
  const takeBack = (name: string, kind: Priority): string =>
    `${name} = greatest(0, ${name} - (case when $5 = '${kind}' then ${back} else 0 end))`;
  await ledger.db.query(
    `update quotas set used = greatest(0, used - ${back}), remaining = remaining + ${back},
       request_limit = case when ${wasLearntHere} then greatest(1, request_limit - 1) else request_limit end,
       unsure = unsure + (case when $2::text = 'unsure' and window_number = $3::int then 1 else 0 end),
       ${takeBack('used_imports', 'import')}, ${takeBack('used_idle', 'idle')}, ${takeBack('used_sweeps', 'sweep')},
       alone_until = case when $4::boolean then null else alone_until end
     where fingerprint = $1 and ${withoutWaiting}`,
    [fingerprint, String(counted), permit.window, permit.exclusive, permit.priority, requests],
  );
}
