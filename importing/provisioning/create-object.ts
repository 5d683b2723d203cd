import { ApiError } from '../../pigeonhole/api-error.js';
import type { PigeonholeClient } from '../../pigeonhole/client.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import { confirmAfterMs, Stopwatch, whileHeld } from '../../base/lease.js';
import { PermitRefusal } from '../../requests/quota-rules.js';
import { type Looks, type Shown, priority } from './object-states.js';
import type { SqlValue } from '../../ledger/drivers/sql-values.js';
import type { Ledger } from '../../ledger/ledger.js';

/**
 * The outcome of a creation.
 * - `created` the service returned its id, and the ledger has recorded it
 * - `unknown` it may or may not exist: look it up before it is sent again
 * - `refused` the service refused it as invalid and did not create it
 * - `hindered` nothing was created, and no other object of the event can be created now
 * - `overtaken` another process is creating it, or may be: nothing was sent
 */
export type Creation =
  | { readonly kind: 'created'; readonly id: number; readonly shown: Shown; readonly requestId: string | null }
  | { readonly kind: 'unknown'; readonly requestId: string | null }
  | { readonly kind: 'refused'; readonly error: ApiError }
  | { readonly kind: 'hindered'; readonly hindrance: Hindrance }
  | { readonly kind: 'overtaken' };

type Dependencies = Pick<Collaborators, 'clients' | 'config' | 'gate' | 'ledger' | 'log' | 'clocks'>;

/**
 * Creates one object, once. The intent is committed after the permit is granted, right before the request. Only the
 * process that commits the intent sends the request. After a crash, the intent remains, and the next cycle looks the
 * object up before it sends anything again.
 */
export async function createObject(
  deps: Dependencies,
  name: ProvisionedName,
  intent: Intent,
  send: (client: PigeonholeClient) => Promise<{ readonly shown: Shown; readonly requestId: string | null }>,
): Promise<Creation> {
  const { parentId, by } = intent;
  const { workspace, event, object } = name;
  let attempt: number | undefined;
  try {
    const answer = await deps.gate.request(deps, { workspace, priority }, async (client) => {
      const intended = new Stopwatch(deps.clocks);
      attempt = await intendCreation(deps.ledger, name, intent);
      if (attempt === undefined) return undefined;
      const confirm = (): Promise<void> | undefined =>
        intended.elapsedMs() < confirmAfterMs ? undefined : Promise.reject(new IntentTooOld());
      return await whileHeld(confirm, () => send(client));
    });
    if (attempt === undefined || answer === undefined) return { kind: 'overtaken' };
    const { shown, requestId } = answer;
    const settled = await settleCreation(deps.ledger, name, { parentId, remoteId: shown.id, attempt, by });
    deps.log.info({ workspace, event, object, id: shown.id, settled, requestId }, 'created in the service');
    // another process considered the intent lost meanwhile; its look-up will find the object
    return settled ? { kind: 'created', id: shown.id, shown, requestId } : { kind: 'unknown', requestId };
  } catch (error) {
    if (error instanceof IntentTooOld && attempt !== undefined) {
      await dropIntent(deps.ledger, name, attempt);
      return { kind: 'overtaken' };
    }
    if (!(error instanceof ApiError) && !(error instanceof PermitRefusal)) throw error;
    if (attempt === undefined || error instanceof PermitRefusal) {
      return { kind: 'hindered', hindrance: judgeRequestFailure(error, deps.ledger.clock.nowMs()) };
    }
    const { kind, code, status, requestId } = error;
    deps.log.warn({ workspace, event, object, kind, code, status, requestId }, 'could not be created');
    if (error.mayHaveTakenEffect) return { kind: 'unknown', requestId };
    await dropIntent(deps.ledger, name, attempt);
    const hindrance = judgeRequestFailure(error, deps.ledger.clock.nowMs());
    return hindrance.kind === 'stop' && hindrance.why === 'refused'
      ? { kind: 'refused', error }
      : { kind: 'hindered', hindrance };
  }
}

/**
 * The request was not sent, because it waited too long for a connection or the machine was suspended. Meanwhile,
 * another process may have considered the intent lost, looked the object up and created it.
 */
class IntentTooOld extends Error {
  override readonly name = 'IntentTooOld';

  constructor() {
    super('the intent to create an object is too old to send it');
  }
}

/** The reason why no object of the event can be created now. */
export type Hindrance =
  /** It is temporary: retry after `waitMs`. */
  | {
      readonly kind: 'wait';
      readonly why: 'quota' | 'throttled' | 'unreachable' | 'stopping';
      readonly waitMs: number;
      readonly detail: string;
    }
  /** An operator has to act first. */
  | { readonly kind: 'stop'; readonly why: 'credential' | 'refused' | 'paused'; readonly detail: string };

/** Classifies a failed request. Pure. @param now epoch ms */
export function judgeRequestFailure(error: ApiError | PermitRefusal, now: number): Hindrance {
  const detail = error.message;
  if (error instanceof PermitRefusal) return { kind: 'wait', why: 'quota', waitMs: error.waitMs, detail };
  const requestedMs =
    error.retryAfterMs ?? (error.resetAtMs === undefined ? undefined : Math.max(1000, error.resetAtMs - now));
  switch (error.kind) {
    case 'quota':
      return { kind: 'wait', why: 'quota', waitMs: requestedMs ?? 60_000, detail };
    case 'throttled':
      return { kind: 'wait', why: 'throttled', waitMs: error.retryAfterMs ?? 2000, detail };
    case 'transient':
      return { kind: 'wait', why: 'unreachable', waitMs: error.retryAfterMs ?? 2000, detail };
    case 'aborted':
      return { kind: 'wait', why: 'stopping', waitMs: 1000, detail };
    case 'credential':
      return { kind: 'stop', why: 'credential', detail };
    default:
      return { kind: 'stop', why: 'refused', detail };
  }
}

/** An object of an event file: a pigeonhole, or a session in one. */
interface ProvisionedName {
  readonly workspace: string;
  /** The file's own name of the event. */
  readonly event: string;
  /** `pigeonhole`, or the file's own name of a session. */
  readonly object: string;
}

/** `none`: no request created it; `sending`: it is not known whether a request created it; `made`: it exists. */
type ProvisionedState = 'none' | 'sending' | 'made';

/** The ledger's record of an object that was sent or adopted. */
export interface Provisioned {
  readonly object: string;
  /** ID of the pigeonhole that contains the session; 0: the object is a pigeonhole. */
  readonly parentId: number;
  readonly state: ProvisionedState;
  readonly attempt: number;
  /** Id of a created object; otherwise null. */
  readonly remoteId: number | null;
  /** The identifying fields as they were sent. If the answer is lost, the object is looked up by them. */
  readonly sent: Looks;
  /** IDs of the objects with the same name that existed before the request. */
  readonly knownBefore: readonly number[];
  /** Milliseconds since the last request, by the database's clock. */
  readonly sentMsAgo: number;
}

/** Returns the objects of an event that were ever sent or adopted, by their names in the file. */
export async function provisionedOf(
  ledger: Ledger,
  { workspace, event }: Omit<ProvisionedName, 'object'>,
): Promise<Map<string, Provisioned>> {
  type Row = Omit<Provisioned, 'sent' | 'knownBefore'> & { readonly sent: string; readonly knownBefore: string };
  const rows = await ledger.db.query<Row>(
    `select object, parent_id as "parentId", state, attempt, remote_id as "remoteId", sent, known_before as "knownBefore",
       (extract(epoch from now() - sent_at) * 1000)::float8 as "sentMsAgo"
     from provisioned where workspace = $1 and event = $2`,
    [workspace, event],
  );
  return new Map(
    rows.map(({ sent, knownBefore, ...row }) => [
      row.object,
      {
        ...row,
        sent: JSON.parse(sent) as Record<string, unknown>,
        knownBefore: knownBefore.split(' ').filter(Boolean).map(Number),
      },
    ]),
  );
}

/**
 * Returns the id under which the ledger records an event: its own, or that of the event whose pigeonhole the operator
 * wants to use, if nothing is recorded for its own.
 */
export async function recordedEvent(
  ledger: Ledger,
  { workspace, event }: Omit<ProvisionedName, 'object'>,
  pigeonholeId: number | undefined,
): Promise<string> {
  if (pigeonholeId === undefined) return event;
  const [row] = await ledger.db.query<{ event: string }>(
    `select event from provisioned where workspace = $1 and object = 'pigeonhole' and remote_id = $2
       and not exists (select 1 from provisioned where workspace = $1 and event = $3)`,
    [workspace, pigeonholeId, event],
  );
  return row?.event ?? event;
}

/** Records everything of one event under another id, because the id in the file has changed. Repeating it is safe. */
export async function renameEvent(ledger: Ledger, workspace: string, from: string, to: string): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    await tx.query('lock table provisioned in share row exclusive mode'); // nobody starts to create an object meanwhile
    await tx.query(
      `update provisioned set event = $3 where workspace = $1 and event = $2
         and not exists (select 1 from provisioned where workspace = $1 and event = $3)`,
      [workspace, from, to],
    );
  });
}

/** Returns the existing objects of all event files, as `<event>/<object>` by id. */
export async function claimedIds(ledger: Ledger, workspace: string, parentId: number): Promise<Map<number, string>> {
  const rows = await ledger.db.query<{ remote_id: number; event: string; object: string }>(
    'select remote_id, event, object from provisioned where workspace = $1 and parent_id = $2 and remote_id is not null',
    [workspace, parentId],
  );
  return new Map(rows.map(({ remote_id: id, event, object }) => [id, `${event}/${object}`]));
}

export interface Intent {
  /** ID of the pigeonhole that will contain the session; 0: the object is a pigeonhole. */
  readonly parentId: number;
  /** Number of the latest attempt in the ledger when this was decided; 0: there was none. */
  readonly attempt: number;
  /** The identifying fields as they are sent. */
  readonly sent: Looks;
  /** IDs of the objects with the same name that existed before the request. */
  readonly knownBefore: readonly number[];
  readonly by: string | null;
}

/**
 * Commits the intent to create the object. If several processes commit the same intent, only one succeeds.
 * @returns the number of this attempt; undefined if another process was faster: then send nothing
 */
export async function intendCreation(
  ledger: Ledger,
  name: ProvisionedName,
  intent: Intent,
): Promise<number | undefined> {
  const [row] = await ledger.db.query<{ attempt: number }>(
    `insert into provisioned (workspace, event, object, parent_id, state, attempt, sent, known_before, sent_at, requested_by)
     select $1, $2, $3, $4::int8, 'sending', $5::int4 + 1, $6::json, $7, now(), $8
     where $5::int4 = 0 or exists (select 1 from provisioned where workspace = $1 and event = $2 and object = $3)
     on conflict (workspace, event, object) do update set parent_id = excluded.parent_id, state = 'sending', remote_id = null,
       attempt = excluded.attempt, sent = excluded.sent, known_before = excluded.known_before, sent_at = excluded.sent_at,
       settled_at = null, requested_by = excluded.requested_by
       where provisioned.attempt = $5::int4
     returning attempt`,
    [
      ...partsOf(name),
      intent.parentId,
      intent.attempt,
      JSON.stringify(intent.sent),
      intent.knownBefore.join(' '),
      intent.by,
    ],
  );
  return row?.attempt;
}

/**
 * Drops an intent whose request has certainly created nothing.
 * @param attempt the number that `intendCreation` returned
 */
export async function dropIntent(ledger: Ledger, name: ProvisionedName, attempt: number): Promise<void> {
  await ledger.db.query(
    `update provisioned set state = 'none', settled_at = now()
     where workspace = $1 and event = $2 and object = $3 and attempt = $4 and state = 'sending'`,
    [...partsOf(name), attempt],
  );
}

interface Claim {
  readonly parentId: number;
  readonly remoteId: number;
  /** Number of the latest attempt in the ledger when this was decided; 0: there was none. */
  readonly attempt: number;
  readonly by: string | null;
  /** Name of the object of the same event under which the ID is recorded until now; absent: none. */
  readonly insteadOf?: string | undefined;
}

/**
 * Commits that the object exists under this ID: it was created, a look-up found it, or the operator named it.
 * @returns false if the ledger records the ID for another object, or another process was faster to settle this one
 */
export async function settleCreation(ledger: Ledger, name: ProvisionedName, claim: Claim): Promise<boolean> {
  return await ledger.db.transaction(async (tx) => {
    await tx.query('lock table provisioned in share row exclusive mode'); // if two processes claim one ID, the second one sees the row of the first
    if (claim.insteadOf !== undefined) {
      await tx.query(
        'delete from provisioned where workspace = $1 and event = $2 and object = $3 and parent_id = $4 and remote_id = $5',
        [name.workspace, name.event, claim.insteadOf, claim.parentId, claim.remoteId],
      );
    }
    const rows = await tx.query(
      `insert into provisioned (workspace, event, object, parent_id, state, remote_id, attempt, sent, known_before, sent_at,
         settled_at, requested_by)
       select $1, $2, $3, $4::int8, 'made', $5::int8, $6::int4 + 1, '{}', '', now(), now(), $7
       where not exists (select 1 from provisioned where workspace = $1 and (parent_id = 0) = ($4::int8 = 0) and remote_id = $5::int8
           and (event, object) <> ($2, $3))
         and ($6::int4 = 0 or exists (select 1 from provisioned where workspace = $1 and event = $2 and object = $3))
       on conflict (workspace, event, object) do update set parent_id = excluded.parent_id, state = 'made',
         remote_id = excluded.remote_id, settled_at = now(), attempt = excluded.attempt
         where provisioned.attempt = $6::int4
       returning remote_id`,
      [...partsOf(name), claim.parentId, claim.remoteId, claim.attempt, claim.by],
    );
    return rows.length > 0;
  });
}

function partsOf({ workspace, event, object }: ProvisionedName): SqlValue[] {
  return [workspace, event, object];
}
