import type { Ledger } from '../../ledger/ledger.js';

/** What a request is for: where the quota does not reach for all, the first go first. */
export type Priority = 'import' | 'live' | 'idle' | 'sweep';

/** How the quota of an API key stands, by the database's clock. */
export interface QuotaState {
  /** Requests of a window; null: not known. */
  readonly limit: number | null;
  /** The limit is the service's word; else it was learnt from a refusal. */
  readonly told: boolean;
  /** Requests of this window that are left, at most; null: not known, and not after a refusal either, until a probe. */
  readonly remaining: number | null;
  readonly used: number;
  readonly usedImports: number;
  readonly usedIdle: number;
  readonly usedSweeps: number;
  readonly window: number;
  /** Until the next window, at most. */
  readonly resetInMs: number;
  /** For how long what is left has to last: until the reset, or, where nobody has said when that is, a guess. */
  readonly planInMs: number;
  /** The service said so; else the longest that a window can last. */
  readonly resetTold: boolean;
  /** Refusals in a row, those under way at once being one. */
  readonly refusals: number;
  /** Nothing is asked before; 0: it may be. */
  readonly waitMs: number;
  /** A request is under way that no other may stand beside, for at most so long; 0: none. */
  readonly aloneMs: number;
}

interface QuotaRow {
  request_limit: number | null;
  told: boolean;
  remaining: number | null;
  used: number;
  used_imports: number;
  used_idle: number;
  used_sweeps: number;
  window_number: number;
  reset_in_ms: number;
  plan_in_ms: number;
  reset_told: boolean;
  refusals: number;
  wait_ms: number;
  alone_ms: number;
}

const windowEnd = `coalesce(reset_at, window_from + window_ms * interval '1 millisecond')`;
const isOver = `${windowEnd} <= now()`;
/** A learnt limit is tried anew after a while: the plan may be another one, or another user of the key may be gone. */
const limitNow = `case when ${isOver} and limit_until <= now() then null else request_limit end`;
const leftNow = `case when ${isOver} then ${limitNow} else remaining end`;
const millisecondsTo = (instant: string): string =>
  `greatest(0, coalesce(extract(epoch from ${instant} - now()) * 1000, 0))::float8`;

const usedNow = (name: string): string => `(case when ${isOver} then 0 else ${name} end)`;

/**
 * A window is taken to be as long as the longest wait for a reset that was told: should one go by of which nothing is
 * told, the next is not waited for until tomorrow. Too short a guess costs a refusal, which counts for nothing.
 */
const toldWindow = (resetInMs: string): string =>
  `greatest(case when window_told then window_ms else 1000 end, ${resetInMs}::float8::int8)`;

/** As migrations made it: nobody has said how long a window is, and none was seen to end. */
const unknownWindowMs = 86_400_000;
/** What is left of a window of unknown length is planned to last for at least this long. */
const minPlanMs = 60_000;
/** And for this many times as long as the window has lasted (decision 0013). */
const planAhead = 4;
const planEnd = `case when reset_at is null and not window_told and window_ms >= ${unknownWindowMs}
    then least(${windowEnd},
      now() + greatest(${planAhead} * (now() - window_from), ${minPlanMs} * interval '1 millisecond'))
    else ${windowEnd} end`;

const columns = `${limitNow} as request_limit, limit_until is null as told, ${leftNow} as remaining,
  ${usedNow('used')} as used, ${usedNow('used_imports')} as used_imports, ${usedNow('used_idle')} as used_idle,
  ${usedNow('used_sweeps')} as used_sweeps, window_number, ${millisecondsTo(windowEnd)} as reset_in_ms,
  ${millisecondsTo(planEnd)} as plan_in_ms, reset_at is not null as reset_told, refusals,
  ${millisecondsTo('wait_until')} as wait_ms, ${millisecondsTo('alone_until')} as alone_ms`;

/**
 * A count that is lost with the store's last moments is put right by the service's next answer, so it is not worth a
 * disk write of its own (decision 0013): the statement's transaction commits without waiting for one.
 */
const withoutWaiting = `set_config('synchronous_commit', 'off', true) = 'off'`;

/** A request under way is over by then, whatever became of the process that made it: its deadline is 30 s. */
const aloneMs = 35_000;
/**
 * Where the service tells the limit and the rest, but no reset, a rest that has risen is the sign of another window. It
 * has to have risen by more than what answers that overtake each other can make of it.
 */
export const refilled = { atLeast: 20, partOfLimit: 10 } as const;
/** No window is taken to be shorter for that. */
const shortestRefillMs = 60_000;
/** So many windows a learnt limit is believed. */
const learntForWindows = 7;
/** Resets that are told in whole seconds, against a `Date` in whole seconds, differ by as much within one window. */
const sameWindowMs = 5000;

function toState(row: QuotaRow): QuotaState {
  return {
    limit: row.request_limit,
    told: row.told,
    remaining: row.remaining,
    used: row.used,
    usedImports: row.used_imports,
    usedIdle: row.used_idle,
    usedSweeps: row.used_sweeps,
    window: row.window_number,
    resetInMs: row.reset_in_ms,
    planInMs: row.plan_in_ms,
    resetTold: row.reset_told,
    refusals: row.refusals,
    waitMs: Math.ceil(row.wait_ms),
    aloneMs: row.alone_ms,
  };
}

/** How a key's quota stands; made at the first mention, when nothing is known of it. */
export async function readQuota(ledger: Ledger, fingerprint: string): Promise<QuotaState> {
  const select = `select ${columns} from quotas where fingerprint = $1`;
  const [row] = await ledger.db.query<QuotaRow>(select, [fingerprint]);
  if (row !== undefined) return toState(row);
  await ledger.db.query('insert into quotas (fingerprint) values ($1) on conflict (fingerprint) do nothing', [
    fingerprint,
  ]);
  return toState((await ledger.db.query<QuotaRow>(select, [fingerprint]))[0]!);
}

/** The quotas of these keys that are known, by fingerprint. */
export async function readQuotas(ledger: Ledger, fingerprints: readonly string[]): Promise<Map<string, QuotaState>> {
  const rows = await ledger.db.query<QuotaRow & { fingerprint: string }>(
    `select fingerprint, ${columns} from quotas where fingerprint = any($1::text[])`,
    [fingerprints],
  );
  return new Map(rows.map((row) => [row.fingerprint, toState(row)]));
}

/**
 * Spends one request, if it may be: one short statement, before the request. The first of a new window begins it.
 * @param terms.limit what the caller knows: the terms were made for it, so that another limit refuses
 * @param terms.least so many have to stay
 * @param terms.aloneBelow with so many left or fewer, and after a refusal, only one request is under way at a time
 * @returns null when it may not be; `readQuota` says why
 */
export async function spendPermit(
  ledger: Ledger,
  fingerprint: string,
  priority: Priority,
  terms: { readonly limit: number | null; readonly least: number; readonly aloneBelow: number },
): Promise<QuotaState | null> {
  const count = (name: string, kind: Priority): string =>
    `${name} = ${usedNow(name)} + (case when $2 = '${kind}' then 1 else 0 end)`;
  const isAlone = `(refusals > 0 or ${leftNow} <= $5::int)`;
  const [row] = await ledger.db.query<QuotaRow>(
    `update quotas set
       request_limit = ${limitNow}, remaining = ${leftNow} - 1,
       limit_until = case when ${isOver} and limit_until <= now() then null else limit_until end,
       used = ${usedNow('used')} + 1,
       ${count('used_imports', 'import')}, ${count('used_idle', 'idle')}, ${count('used_sweeps', 'sweep')},
       unsure = ${usedNow('unsure')},
       window_number = window_number + (case when ${isOver} then 1 else 0 end),
       window_whole = window_whole or (reset_at is not null and ${isOver}),
       window_from = case when ${isOver} then now() else window_from end,
       reset_at = case when ${isOver} then null else reset_at end,
       wait_until = null,
       alone_until = case when ${isAlone} then now() + ${aloneMs} * interval '1 millisecond' else alone_until end
     where fingerprint = $1 and ${withoutWaiting}
       and (wait_until is null or wait_until <= now())
       and (${limitNow} is not distinct from $3::int)
       and (${limitNow} is null or ${leftNow} is null or ${leftNow} > $4::int)
       and (${isAlone} is not true or alone_until is null or alone_until <= now())
     returning ${columns}`,
    [fingerprint, priority, terms.limit, terms.least, terms.aloneBelow],
  );
  return row === undefined ? null : toState(row);
}

/** What a request was spent under. */
export interface SpentPermit {
  readonly priority: Priority;
  readonly window: number;
  /** Asked after a refusal, to see whether the quota is full again. */
  readonly probe: boolean;
  readonly alone: boolean;
}

/** What an answer said of the quota; null where it said nothing. */
export interface QuotaReading {
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resetInMs: number | null;
}

/**
 * The service has answered a request: what it says of the quota counts, the lower of what is known and what it says.
 * A probe that was answered, a reset later than the known one, or (where no reset is told) a rest that has risen, means
 * another window.
 */
export async function noteAnswer(
  ledger: Ledger,
  fingerprint: string,
  permit: SpentPermit,
  said: QuotaReading,
): Promise<QuotaState> {
  const isFullAgain = `($3::boolean and refused_window = window_number)`;
  const isOwn = `window_number = $2::int`;
  const isRefilled = `coalesce(${isOwn} and reset_at is null and $7::float8 is null
    and coalesce($5::int, request_limit) = request_limit
    and $6::int > remaining + greatest(${refilled.atLeast}, request_limit / ${refilled.partOfLimit}), false)`;
  // A quota that appears, or shrinks, below what was counted: requests before it were none of its window.
  const isNewlyLimited = `coalesce($5::int is distinct from request_limit and used > $5::int, false)`;
  const isAnother = `(${isFullAgain} or ${isRefilled} or ${isNewlyLimited} or coalesce(reset_at + ${sameWindowMs} * interval '1 millisecond'
    < now() + $7::float8 * interval '1 millisecond', false))`;
  const limit = `coalesce($5::int, request_limit, used + $6::int)`;
  const corrects = `($5::int is not null and $5::int is distinct from request_limit)`;
  const [row] = await ledger.db.query<QuotaRow>(
    `update quotas set
       request_limit = ${limit},
       limit_until = case when $5::int is not null or $6::int is not null then null else limit_until end,
       remaining = case
         when ${isAnother} then coalesce($6::int, ${limit} - 1)
         when not ${isOwn} then remaining
         when remaining is null and refusals > 0 then null -- an answer from before the refusal: the probe will tell
         when ${corrects} then coalesce($6::int, $5::int - used)
         else least(remaining, $6::int) end,
       used = case when ${isAnother} then coalesce($5::int - $6::int, 1) else used end,
       used_imports = case when ${isAnother} then 0 else used_imports end,
       used_idle = case when ${isAnother} then 0 else used_idle end,
       used_sweeps = case when ${isAnother} then 0 else used_sweeps end,
       unsure = case when ${isAnother} then 0 else unsure end,
       window_number = window_number + (case when ${isAnother} then 1 else 0 end),
       window_whole = window_whole or ${isAnother},
       window_ms = case when $7::float8 is not null then ${toldWindow('$7')}
         when ${isFullAgain} and reset_at is null
         then least(window_ms, (extract(epoch from now() - window_from) * 1000)::int8)
         when ${isRefilled}
         then least(window_ms, greatest(${shortestRefillMs}, (extract(epoch from now() - window_from) * 1000)::int8))
         else window_ms end,
       window_told = window_told or $7::float8 is not null,
       window_from = case when ${isAnother} then now() else window_from end,
       reset_at = case when $7::float8 is not null and (${isOwn} or ${isAnother})
           then now() + $7::float8 * interval '1 millisecond'
         when ${isAnother} then null else reset_at end,
       refusals = case when $3::boolean or ${isAnother} then 0 else refusals end,
       wait_until = case when $3::boolean or ${isAnother} then null else wait_until end,
       alone_until = case when $4::boolean then null else alone_until end
     where fingerprint = $1 and ${withoutWaiting} returning ${columns}`,
    [fingerprint, permit.window, permit.probe, permit.alone, said.limit, said.remaining, said.resetInMs],
  );
  return toState(row!);
}

/**
 * The service no longer says what it used to say: its word of the limit counts no more. Without that a plan without a
 * limit, or a way to the service that strips headers, would be waited for until the end of a window that nobody counts.
 */
export async function forgetToldLimit(ledger: Ledger, fingerprint: string): Promise<QuotaState> {
  const [row] = await ledger.db.query<QuotaRow>(
    `update quotas set request_limit = case when limit_until is null then null else request_limit end,
       remaining = case when limit_until is null then null else remaining end,
       reset_at = case when limit_until is null then null else reset_at end
     where fingerprint = $1 returning ${columns}`,
    [fingerprint],
  );
  return toState(row!);
}

/**
 * The service has refused a request because the quota is used up (8000). It was not counted, so what was counted in a
 * window whose beginning was seen, and certainly arrived, is the limit, unless the service says it.
 */
export async function noteRefusal(
  ledger: Ledger,
  fingerprint: string,
  permit: SpentPermit,
  said: QuotaReading,
  waitMs: number,
): Promise<QuotaState> {
  const isOwn = `window_number = $2::int`;
  const counted = `greatest(0, used - (case when ${isOwn} then 1 else 0 end))`;
  const learns = `($5::int is null and window_whole and ${isOwn} and ${counted} > unsure
    and (request_limit is null or limit_until is not null))`;
  const [row] = await ledger.db.query<QuotaRow>(
    `update quotas set
       request_limit = case when ${learns} then ${counted} - unsure else coalesce($5::int, request_limit) end,
       limit_until = case when ${learns} then now() + window_ms * ${learntForWindows} * interval '1 millisecond'
         when $5::int is not null then null else limit_until end,
       used = least(${counted}, $5::int),
       window_ms = case when $6::float8 is not null then ${toldWindow('$6')} else window_ms end,
       window_told = window_told or $6::float8 is not null,
       remaining = case when $6::float8 is not null or reset_at is not null then 0 end, -- else: probe
       reset_at = case when $6::float8 is null then reset_at else now() + $6::float8 * interval '1 millisecond' end,
       refusals = case when $3::boolean or refusals = 0 then refusals + 1 else refusals end,
       refused_window = window_number,
       wait_until = greatest(wait_until, now() + $7::float8 * interval '1 millisecond'),
       alone_until = case when $4::boolean then null else alone_until end
     where fingerprint = $1 returning ${columns}`,
    [fingerprint, permit.window, permit.probe, permit.alone, said.limit, said.resetInMs, waitMs],
  );
  return toState(row!);
}

/**
 * By the service's own count nothing is left, and nobody says when the next window begins: a probe is made after a wait,
 * as after a refusal. Noted by the first that finds it so.
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
 * An operator says that the quota may be larger or full again: one request may be made now, whose answer tells. Changes
 * nothing where requests may be made anyway.
 */
export async function askQuotaAgain(ledger: Ledger, fingerprint: string): Promise<void> {
  await ledger.db.query(
    `update quotas set remaining = null, refusals = greatest(refusals, 1), refused_window = window_number,
       wait_until = null, alone_until = null
     where fingerprint = $1 and (wait_until > now() or remaining <= 0)`,
    [fingerprint],
  );
}

/**
 * A request ended without an answer that says anything of the quota.
 * @param counted false: the service certainly did not count it; `unsure`: it may never have heard of it
 */
export async function notePassed(
  ledger: Ledger,
  fingerprint: string,
  permit: SpentPermit,
  counted: boolean | 'unsure',
): Promise<void> {
  const back = `(case when $2::text <> 'false' or window_number <> $3::int then 0 else 1 end)`;
  // A limit that this window has taught counted it, too.
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
    [fingerprint, String(counted), permit.window, permit.alone, permit.priority],
  );
}
