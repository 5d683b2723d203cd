import type { Ledger } from '../ledger/ledger.js';

/** Priority of a request, highest first. It matters if the quota does not suffice for all requests. */
export type Priority = 'import' | 'live' | 'idle' | 'sweep';

/** State of an API key's quota, by the database's clock. */
export interface QuotaState {
  /** Requests per window, as the service last reported it; null: it has never reported a limit. */
  readonly limit: number | null;
  /**
   * Upper bound of the requests that remain in this window; null: not known, because no response of this window has
   * reported it, so nothing is limited. 0 after a refusal.
   */
  readonly remaining: number | null;
  readonly used: number;
  readonly usedImports: number;
  readonly usedIdle: number;
  readonly usedSweeps: number;
  /** Rises with each window and with each refusal: whatever was known before no longer holds. */
  readonly window: number;
  /** Time until the reported end of the window; null: not reported. */
  readonly resetInMs: number | null;
  /** Time until one request may ask whether there is room again; 0: now; null: no such request is planned. */
  readonly askInMs: number | null;
  /** Number of refusals and of requests that asked in vain, in a row. Each doubles the wait for the next one. */
  readonly asks: number;
}

const isOver = `coalesce(reset_at <= now(), false)`;
const leftNow = `case when ${isOver} then null else remaining end`;
const usedNow = (name: string): string => `(case when ${isOver} then 0 else ${name} end)`;
const millisecondsTo = (instant: string): string =>
  `greatest(0, ceil(extract(epoch from ${instant} - now()) * 1000))::float8`;
const inMs = (parameter: string): string => `now() + ${parameter}::float8 * interval '1 millisecond'`;

/** The columns of a `QuotaState`. */
const columns = `request_limit as "limit", ${leftNow} as remaining, ${usedNow('used')} as used,
  ${usedNow('used_imports')} as "usedImports", ${usedNow('used_idle')} as "usedIdle",
  ${usedNow('used_sweeps')} as "usedSweeps", window_number as "window",
  case when reset_at is not null and not ${isOver} then ${millisecondsTo('reset_at')} end as "resetInMs",
  case when ask_at is not null then ${millisecondsTo('ask_at')} end as "askInMs", asks`;

/**
 * Lets the statement commit without waiting for the disk (decision 0013). If the database crashes and loses the count,
 * the service's next response corrects it.
 */
const withoutWaiting = `set_config('synchronous_commit', 'off', true) = 'off'`;

/**
 * If the service reports remaining requests but no reset, an increase shows a new window. The increase has to exceed
 * what responses arriving out of order can cause.
 */
export const refilled = { atLeast: 20, partOfLimit: 10 } as const;
/**
 * Two reports of the same reset may differ by up to this much: the service rounds to whole seconds, and responses take
 * time.
 */
export const sameWindowMs = 5000;
/** Wait before the first request that asks; it doubles with each one up to `longestAskMs`. */
export const firstAskMs = 60_000;
export const longestAskMs = 15 * 60_000;

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

/** The permit under which a request is made. */
export interface SpentPermit {
  readonly priority: Priority;
  readonly window: number;
  /** True if too little was left: the request asks whether there is room again. No other request does so meanwhile. */
  readonly isAsking: boolean;
  /** `QuotaState.asks` before this permit. */
  readonly asks: number;
}

/**
 * Takes permits for the next requests, with one short statement before them. The first permit after a reset starts a
 * new window. If too little is left, one request may ask when `askInMs` has passed, whatever its priority.
 * @param terms.count maximum number of permits
 * @param terms.mustRemain requests that must still be left after these
 * @returns null if there is no permit; `readQuota` shows why
 */
export async function spendPermits(
  ledger: Ledger,
  fingerprint: string,
  priority: Priority,
  terms: { readonly count: number; readonly mustRemain: number },
): Promise<{ readonly granted: number; readonly permit: SpentPermit; readonly state: QuotaState } | null> {
  const count = (name: string, kind: Priority): string =>
    `${name} = ${usedNow(name)} + (case when $2 = '${kind}' then granted else 0 end)`;
  const [row] = await ledger.db.query<QuotaState & { granted: number; is_asking: boolean }>(
    `update quotas set
       remaining = case when ${leftNow} is not null then greatest(0, ${leftNow} - granted) end, used = ${usedNow('used')} + granted,
       ${count('used_imports', 'import')}, ${count('used_idle', 'idle')}, ${count('used_sweeps', 'sweep')},
       window_number = window_number + (case when ${isOver} then 1 else 0 end),
       reset_at = case when ${isOver} then null else reset_at end,
       ask_at = case when is_asking
         then ${inMs(`least(${firstAskMs} * 2 ^ least(asks, 10), ${longestAskMs})`)} else ask_at end,
       asks = asks + (case when is_asking then 1 else 0 end)
     from (
       select fingerprint as locked, ${leftNow} <= $4::int is true as is_asking,
         case when ${leftNow} is null then $3::int when ${leftNow} > $4::int then least($3::int, ${leftNow} - $4::int)
           when ask_at <= now() then 1 else 0 end as granted
       from quotas where fingerprint = $1 for update
     ) permits
     where fingerprint = locked and granted > 0 and ${withoutWaiting}
     returning ${columns}, granted, is_asking`,
    [fingerprint, priority, terms.count, terms.mustRemain],
  );
  if (row === undefined) return null;
  const { granted, is_asking: isAsking, ...state } = row;
  const asks = isAsking ? state.asks - 1 : state.asks;
  return { granted, permit: { priority, window: state.window, isAsking, asks }, state };
}

/** The quota as a response reports it; null where it reports nothing. */
interface QuotaReading {
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resetInMs: number | null;
}

/**
 * Stores what a response reports. Within a window, the lower of the known and the reported number of remaining requests
 * is kept, unless the request asked or the limit has changed. A new window has started if the reset is later than the
 * known one, if (without a reset) clearly more requests remain, or if a request that asked succeeded and no longer the
 * known reset is reported. A response from an earlier window changes nothing.
 */
export async function noteAnswer(
  ledger: Ledger,
  fingerprint: string,
  permit: SpentPermit,
  reported: QuotaReading,
): Promise<QuotaState> {
  const resetAt = inMs('$6');
  const isLater = `coalesce(reset_at + ${sameWindowMs} * interval '1 millisecond' < ${resetAt}, false)`;
  const isRefilled = `coalesce(reset_at is null and $6::float8 is null and $5::int > remaining
    + greatest(${refilled.atLeast}, coalesce($4::int, request_limit) / ${refilled.partOfLimit}), false)`;
  const isSameReset = `coalesce(abs(extract(epoch from reset_at - (${resetAt})) * 1000) <= ${sameWindowMs}, false)`;
  const hasRoom = `($3::boolean and not ${isSameReset} and coalesce($5::int > remaining, true))`;
  const isAnother = `(${isLater} or ${isRefilled} or ${hasRoom})`;
  // Enough was left for the request, and it has not become too little since.
  const hadEnough = `(not $3::boolean and asks = $7::int)`;
  const restart = (name: string): string => `${name} = case when ${isAnother} then 0 else ${name} end`;
  const [row] = await ledger.db.query<QuotaState>(
    `update quotas set
       request_limit = coalesce($4::int, request_limit),
       remaining = case when ${isAnother} or $3::boolean or remaining is null then $5::int
         when $4::int <> request_limit is true then coalesce($5::int, least(remaining, $4::int))
         else least(remaining, $5::int) end,
       used = case when ${isAnother} then greatest(0, coalesce($4::int - $5::int, 1))
         -- requests of earlier windows, which no reset separated from this one
         when $4::int <> coalesce(request_limit, -1) then least(used, greatest(0, $4::int - coalesce($5::int, 0)))
         else used end,
       ${restart('used_imports')}, ${restart('used_idle')}, ${restart('used_sweeps')},
       window_number = window_number + (case when ${isAnother} then 1 else 0 end),
       window_ms = greatest(window_ms, ceil($6::float8)::int8),
       reset_at = case when $6::float8 is not null then ${resetAt} when ${isAnother} then null else reset_at end,
       ask_at = case when ${isAnother} or ${hadEnough} then null else ask_at end,
       asks = case when ${isAnother} or ${hadEnough} then 0 else asks end
     where fingerprint = $1 and window_number = $2::int and ${withoutWaiting} returning ${columns}`,
    [fingerprint, permit.window, permit.isAsking, reported.limit, reported.remaining, reported.resetInMs, permit.asks],
  );
  return row ?? (await readQuota(ledger, fingerprint));
}

/**
 * Stores that the service refused a request because the quota is used up (code 8000). The refused request does not
 * count. Of several refusals at the same time, only the first has an effect.
 * @param refusal.waitMs time until the next request; refusal.untilReset whether that is the reported reset, so that all
 *   requests may follow; otherwise, one request asks
 */
export async function noteRefusal(
  ledger: Ledger,
  fingerprint: string,
  permit: SpentPermit,
  refusal: { readonly limit: number | null; readonly waitMs: number; readonly untilReset: boolean },
): Promise<QuotaState> {
  const [row] = await ledger.db.query<QuotaState>(
    `update quotas set
       request_limit = coalesce($3::int, request_limit), remaining = 0,
       used = greatest(0, least(used - 1, coalesce($3::int, request_limit))),
       window_number = window_number + 1,
       window_ms = case when $5::boolean then greatest(window_ms, ceil($4::float8)::int8) else window_ms end,
       reset_at = case when $5::boolean then ${inMs('$4')} when reset_at > ${inMs('$4')} then reset_at end,
       ask_at = case when $5::boolean then null else ${inMs('$4')} end,
       asks = $6::int + 1
     where fingerprint = $1 and window_number = $2::int returning ${columns}`,
    [fingerprint, permit.window, refusal.limit, refusal.waitMs, refusal.untilReset, permit.asks],
  );
  return row ?? (await readQuota(ledger, fingerprint));
}

/**
 * Plans a request that asks whether there is room again, because too little is left and the service reports no reset.
 * Of several calls at the same time, only the first has an effect.
 */
export async function planAsk(ledger: Ledger, fingerprint: string, waitMs: number): Promise<QuotaState> {
  await ledger.db.query(
    `update quotas set ask_at = ${inMs('$2')}, asks = asks + 1
     where fingerprint = $1 and ask_at is null and reset_at is null`,
    [fingerprint, waitMs],
  );
  return await readQuota(ledger, fingerprint);
}

/**
 * Allows one request of any priority now, to find out whether the quota was raised or renewed. Called when an operator
 * says that it was.
 */
export async function askNow(ledger: Ledger, fingerprint: string): Promise<void> {
  await ledger.db.query('update quotas set ask_at = now(), asks = 0 where fingerprint = $1', [fingerprint]);
}

/** Returns permits to the quota whose requests the service certainly did not count, or that were not used. */
export async function returnPermits(
  ledger: Ledger,
  fingerprint: string,
  { priority, window }: SpentPermit,
  count: number,
): Promise<void> {
  const takeBack = (name: string, kind: Priority): string =>
    `${name} = greatest(0, ${name} - (case when $2 = '${kind}' then $4::int else 0 end))`;
  await ledger.db.query(
    `update quotas set used = greatest(0, used - $4::int), remaining = remaining + $4::int,
       ${takeBack('used_imports', 'import')}, ${takeBack('used_idle', 'idle')}, ${takeBack('used_sweeps', 'sweep')}
     where fingerprint = $1 and window_number = $3::int and ${withoutWaiting}`,
    [fingerprint, priority, window, count],
  );
}
