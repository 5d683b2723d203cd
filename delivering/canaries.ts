import type { Ledger } from '../ledger/ledger.js';
import { LedgerError } from '../ledger/ledger-error.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The state of a canary. `sending`: it may or may not have arrived; `standing`: it arrived and must be removed;
 * `settled`: nothing is left to remove; `left`: an operator has to remove it.
 */
export type CanaryState = 'sending' | 'standing' | 'settled' | 'left';

/** An invented item that is sent to one sink to test it. */
export interface Canary {
  readonly number: number;
  /** The digits that all ids and texts of the item contain, and no real item does. */
  readonly mark: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly sink: string;
  readonly list: string;
  readonly state: CanaryState;
  /** Id of the change that creates it; a repeat has the same id. */
  readonly changeId: string;
  readonly withdrawalId: string;
  readonly begunAt: Date;
  /** The object that the sink created; null if there is none, or it is unknown. */
  readonly object: Fields | null;
  /** The sink's memory for this canary. */
  readonly memory: Fields;
  readonly detail: string | null;
}

export type NewCanary = Pick<
  Canary,
  'mark' | 'workspace' | 'pigeonholeId' | 'sink' | 'list' | 'changeId' | 'withdrawalId'
>;

/** The process that handles a canary, and the length of its lease. */
export interface CanaryClaim {
  readonly owner: string;
  readonly leaseMs: number;
}

export type CanaryPlace = Pick<Canary, 'workspace' | 'pigeonholeId'>;

const columns = `number, mark, workspace, pigeonhole_id as "pigeonholeId", sink, list, state, change_id as "changeId",
  withdrawal_id as "withdrawalId", begun_at as "begunAt", object, memory, detail`;

type Row = Omit<Canary, 'object' | 'memory'> & { readonly object: string | null; readonly memory: string };

/**
 * Records that a canary is about to be sent, and deletes finished ones of the same sink and pigeonhole.
 * @returns undefined while another canary of that sink and pigeonhole has not been removed
 */
export async function beginCanary(
  ledger: Ledger,
  canary: NewCanary,
  { owner, leaseMs }: CanaryClaim,
): Promise<Canary | undefined> {
  const { mark, workspace, pigeonholeId, sink, list, changeId, withdrawalId } = canary;
  return await ledger.db.transaction(async (tx) => {
    await tx.query(
      `delete from canaries where workspace = $1 and pigeonhole_id = $2 and sink = $3 and state in ('settled', 'left')`,
      [workspace, pigeonholeId, sink],
    );
    const rows = await tx.query<Row>(
      `insert into canaries (mark, workspace, pigeonhole_id, sink, list, state, change_id, withdrawal_id, owner, leased_until)
       select $1, $2, $3, $4, $5, 'sending', $6, $7, $8, clock_timestamp() + $9 * interval '1 millisecond'
       where not exists (select 1 from canaries where workspace = $2 and pigeonhole_id = $3 and sink = $4
         and state in ('sending', 'standing'))
       on conflict (workspace, pigeonhole_id, sink) where state in ('sending', 'standing') do nothing
       returning ${columns}`,
      [mark, workspace, pigeonholeId, sink, list, changeId, withdrawalId, owner, leaseMs],
    );
    return rows[0] === undefined ? undefined : toCanary(rows[0]);
  });
}

/**
 * Stores the state of a canary and renews its lease.
 * @throws {LedgerError} kind `stale` if another process took it over: nothing more may be sent then
 */
export async function noteCanary(
  ledger: Ledger,
  { number, state, object, memory, detail }: Canary,
  { owner, leaseMs }: CanaryClaim,
): Promise<void> {
  const rows = await ledger.db.query(
    `update canaries set state = $3, object = $4, memory = $5, detail = $6,
       leased_until = clock_timestamp() + $7 * interval '1 millisecond'
     where number = $1 and owner = $2 returning number`,
    [
      number,
      owner,
      state,
      object === null ? null : JSON.stringify(object),
      JSON.stringify(memory),
      detail,
      state === 'sending' || state === 'standing' ? leaseMs : 0,
    ],
  );
  if (rows.length === 0) {
    throw new LedgerError('stale', `canary ${number} was taken over by another process: this attempt is over`);
  }
}

/** Ends the lease, so that the next process to check removes the canary. */
export async function releaseCanary(ledger: Ledger, number: number, owner: string): Promise<void> {
  await ledger.db.query(`update canaries set leased_until = clock_timestamp() where number = $1 and owner = $2`, [
    number,
    owner,
  ]);
}

/** Takes over canaries whose lease has expired and that must be removed. @param place null: in all pigeonholes */
export async function takeAbandonedCanaries(
  ledger: Ledger,
  place: CanaryPlace | null,
  { owner, leaseMs }: CanaryClaim,
): Promise<Canary[]> {
  const rows = await ledger.db.query<Row>(
    `update canaries set owner = $1, leased_until = clock_timestamp() + $2 * interval '1 millisecond'
     where state in ('sending', 'standing') and leased_until <= clock_timestamp()
       and ($3::text is null or (workspace = $3 and pigeonhole_id = $4))
     returning ${columns}`,
    [owner, leaseMs, place?.workspace ?? null, place?.pigeonholeId ?? null],
  );
  return rows.map(toCanary);
}

/** Returns the canaries of a pigeonhole that may still exist at a sink and whose lease has expired. */
export async function canariesLeft(ledger: Ledger, { workspace, pigeonholeId }: CanaryPlace): Promise<Canary[]> {
  const rows = await ledger.db.query<Row>(
    `select ${columns} from canaries
     where workspace = $1 and pigeonhole_id = $2 and state <> 'settled' and leased_until <= clock_timestamp()
     order by number`,
    [workspace, pigeonholeId],
  );
  return rows.map(toCanary);
}

/** Ends the leases of all canaries. Only for a process that is certainly the only one. */
export async function endCanaryLeases(ledger: Ledger): Promise<void> {
  await ledger.db.query('update canaries set leased_until = now() where leased_until > now()');
}

function toCanary({ object, memory, ...row }: Row): Canary {
  return {
    ...row,
    object: object === null ? null : (JSON.parse(object) as Fields),
    memory: JSON.parse(memory) as Fields,
  };
}
