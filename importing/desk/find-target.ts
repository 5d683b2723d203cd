import type { Config } from '../../config/config.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import { PermitRefusal } from '../../requests/quota-rules.js';
import { ImportRefusal } from './import-request.js';
import type { ImportTarget } from './import-views.js';
import { pausesOf } from '../../ledger/pauses.js';
import { ApiError, type ApiErrorKind } from '../../pigeonhole/api-error.js';
import type { Ledger } from '../../ledger/ledger.js';
import { isRequestFailure } from '../../requests/failures.js';
import { readableJson } from '../../ledger/sql-expressions.js';
import { findPigeonholeNumber } from '../../ledger/pigeonholes.js';

type To = Pick<Collaborators, 'clients' | 'config' | 'gate' | 'ledger'>;

const requestTimeoutMs = 20_000;

/**
 * Finds a pigeonhole by its ID: as the service returns it now, or as last seen if the service cannot be reached. It
 * need not be part of a sync.
 * @param name ID, or WORKSPACE/ID
 * @throws {ImportRefusal} if it is unknown, or nothing can be imported into it now
 */
export async function findTarget(deps: To, name: string): Promise<ImportTarget> {
  const [id, named] = name.split('/').toReversed() as [string, string | undefined];
  const workspaces = Object.keys(deps.config.workspaces);
  if (named !== undefined && !workspaces.includes(named)) {
    throw new ImportRefusal(
      'unknown',
      `no workspace ${named} is configured; configured workspaces: ${workspaces.join(', ')}`,
    );
  }
  if (named === undefined && workspaces.length > 1) return await findAnywhere(deps, workspaces, id);
  return await findIn(deps, named ?? workspaces[0]!, Number(id));
}

async function findAnywhere(deps: To, workspaces: readonly string[], id: string): Promise<ImportTarget> {
  const found: ImportTarget[] = [];
  for (const workspace of workspaces) {
    try {
      found.push(await findIn(deps, workspace, Number(id)));
    } catch (error) {
      // The intended pigeonhole may be in a workspace that cannot be searched now, even if another one has the ID.
      if (!(error instanceof ImportRefusal)) throw error;
      if (error.kind !== 'unknown') {
        throw new ImportRefusal(error.kind, `${error.message}; or write WORKSPACE/${id}`, { cause: error });
      }
    }
  }
  if (found.length > 1) {
    const names = found.map(({ workspace }) => `${workspace}/${id}`).join(' or ');
    throw new ImportRefusal('wrong', `several workspaces have a pigeonhole ${id}: write ${names}`);
  }
  if (found[0] === undefined) throw notKnown(`no workspace has a pigeonhole ${id}`);
  return found[0];
}

async function findIn(deps: To, workspace: string, pigeonholeId: number): Promise<ImportTarget> {
  const [paused] = await pausesOf(deps.ledger, [{ scope: 'workspace', name: workspace }]);
  if (paused !== undefined) {
    throw new ImportRefusal(
      'stopped',
      paused.pausedBy === 'person'
        ? `an operator has paused workspace ${workspace}: run "pigeonpost resume workspace:${workspace}" first`
        : `workspace ${workspace} is paused: ${paused.detail}`,
    );
  }
  try {
    const permit = { workspace, priority: 'import' } as const;
    const target = toTarget(
      workspace,
      pigeonholeId,
      await deps.gate.pigeonhole(deps, permit, pigeonholeId, AbortSignal.timeout(requestTimeoutMs)),
    );
    return { ...target, asOf: null };
  } catch (error) {
    if (error instanceof PermitRefusal) return await asLastSeen(deps, workspace, pigeonholeId, error);
    if (error instanceof ApiError) return await judge(deps, workspace, pigeonholeId, error);
    throw error;
  }
}

const passing: readonly ApiErrorKind[] = ['quota', 'throttled', 'transient', 'aborted'];

async function judge(deps: To, workspace: string, pigeonholeId: number, error: ApiError): Promise<ImportTarget> {
  if (passing.includes(error.kind)) return await asLastSeen(deps, workspace, pigeonholeId, error);
  if (error.kind === 'pigeonholeNotFound' || error.kind === 'notFound') {
    throw notKnown(`workspace ${workspace} has no pigeonhole ${pigeonholeId}`, error);
  }
  if (error.kind === 'credential') {
    throw new ImportRefusal('stopped', `the service refuses the API key of workspace ${workspace}: ${error.message}`, {
      cause: error,
    });
  }
  throw new ImportRefusal('stopped', error.message, { cause: error });
}

/** Returns the pigeonhole from the ledger. That is enough to stage a file; sending waits for the service. */
async function asLastSeen(deps: To, workspace: string, pigeonholeId: number, cause: Error): Promise<ImportTarget> {
  const seen = await lastSeenPigeonhole(deps.ledger, workspace, pigeonholeId);
  if (seen === undefined) {
    throw new ImportRefusal(
      'unreachable',
      `pigeonhole ${workspace}/${pigeonholeId} is unknown, and the service cannot be reached: ${cause.message}`,
      { cause },
    );
  }
  const target = toTarget(workspace, pigeonholeId, JSON.parse(seen.payload) as object);
  return { ...target, asOf: seen.seenAt.toISOString() };
}

/** @throws {ImportRefusal} if its registrants are switched off */
function toTarget(workspace: string, pigeonholeId: number, pigeonhole: object): Omit<ImportTarget, 'asOf'> {
  const fields: Readonly<Record<string, unknown>> = { ...pigeonhole };
  const text = (name: string): string | null => (typeof fields[name] === 'string' ? fields[name] : null);
  if (fields['registrants'] === false) {
    throw new ImportRefusal(
      'stopped',
      `registrants are switched off in pigeonhole ${workspace}/${pigeonholeId}: switch them on in the dashboard of the service`,
    );
  }
  return {
    workspace,
    pigeonholeId,
    name: text('name'),
    startDate: text('startDate'),
    endDate: text('endDate'),
    status: text('status'),
    timezone: text('timezone'),
  };
}

function notKnown(what: string, cause?: Error): ImportRefusal {
  return new ImportRefusal('unknown', `${what}: check the ID in the dashboard of the service`, { cause });
}

/** Returns a pigeonhole as the service last listed it, as canonical JSON; undefined: the service never listed it. */
export async function lastSeenPigeonhole(
  ledger: Ledger,
  workspace: string,
  pigeonholeId: number,
): Promise<{ readonly payload: string; readonly seenAt: Date } | undefined> {
  const [row] = await ledger.db.query<{ payload: string; seenAt: Date }>(
    `select i.payload, i.seen_at as "seenAt" from items i
       join pigeonholes p on p.pigeonhole_number = i.pigeonhole_number
     where p.workspace = $1 and p.pigeonhole_id = 0 and i.list = 'pigeonholes' and i.key = $2 and i.payload is not null`,
    [workspace, String(pigeonholeId)],
  );
  return row;
}

/** Properties of an attendee that are not profile fields and may be texts or null. Source: specification, "Attendee". */
const attendeeFields = ['attendeeCode', 'signInTime', 'registrantId', 'consent', 'linkedIn', 'twitter'];
/** Attendees to request when the ledger knows none. All attendees of a pigeonhole have the same fields, filled in or not. */
const maxAttendees = 30;

/**
 * Returns the profile fields of a pigeonhole: those of attendees in the ledger, or else of a page of attendees requested
 * from the service. What imports have sent proves nothing, because the service ignores fields that it does not know.
 * Empty if the pigeonhole has no attendees yet or the service cannot be reached.
 */
export async function profileFieldsOf(
  deps: Pick<Collaborators, 'clients' | 'config' | 'gate' | 'ledger' | 'log'>,
  { workspace, pigeonholeId }: Pick<ImportTarget, 'workspace' | 'pigeonholeId'>,
): Promise<string[]> {
  const pigeonholeNumber = await findPigeonholeNumber(deps.ledger.db, workspace, pigeonholeId);
  const stored = pigeonholeNumber === undefined ? [] : await knownProfileFields(deps.ledger, pigeonholeNumber);
  if (stored.length > 0 && !dropsFields(deps.config, workspace)) return stored;
  try {
    const page = await deps.gate.page(
      deps,
      { workspace, priority: 'import' },
      { list: 'attendees', pigeonholeId },
      { count: maxAttendees, signal: AbortSignal.timeout(requestTimeoutMs) },
    );
    return [...new Set([...stored, ...fieldsOf(page.items)])].toSorted();
  } catch (error) {
    if (!isRequestFailure(error)) throw error;
    deps.log.debug({ workspace, pigeonhole: pigeonholeId }, 'could not read the profile fields of attendees');
    return stored; // the import can start without known fields, but gives no warnings about unknown ones
  }
}

/** Whether stored attendees may lack profile fields that those of the service have. */
function dropsFields({ syncs }: Config, workspace: string): boolean {
  return Object.values(syncs).some((sync) => sync.workspace === workspace && (sync.drop.attendees ?? []).length > 0);
}

function fieldsOf(items: readonly object[]): string[] {
  const entries = items.flatMap((item) => Object.entries(item));
  return entries
    .filter(([, value]) => typeof value === 'string' || value === null)
    .flatMap(([field]) => (attendeeFields.includes(field) ? [] : [field]));
}

/** The newest attendees to inspect. All people of a pigeonhole have the same profile fields. */
const maxInspected = 1000;

/** Returns the profile fields of a pigeonhole's stored attendees: their fields that are texts or null. */
export async function knownProfileFields(ledger: Ledger, pigeonholeNumber: number): Promise<string[]> {
  const rows = await ledger.db.query<{ field: string }>(
    `select distinct e.field from (
       select payload as json from items where pigeonhole_number = $1 and list = 'attendees' and payload is not null
         order by last_sequence desc limit ${maxInspected}) as known
       cross join lateral (select ${readableJson('known.json')} as json) c
       cross join lateral (select key as field from json_each(c.json) where json_typeof(value) in ('string', 'null')) e
     where e.field <> all($2::text[]) order by 1`,
    [pigeonholeNumber, attendeeFields],
  );
  return rows.map(({ field }) => field);
}
