import type { Ledger } from '../ledger/ledger.js';
import { LedgerError } from '../ledger/ledger-error.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * How far a canary is. `sending`: it may or may not have arrived; `standing`: it has, and is to be taken back;
 * `settled`: nothing of it is to be taken back; `left`: a person has to remove it.
 */
export type CanaryState = 'sending' | 'standing' | 'settled' | 'left';

/** An invented item that is sent to one sink to try it. */
export interface Canary {
  readonly number: number;
  /** Stands in every id and text of the item: no real one has it. */
  readonly mark: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly sink: string;
  readonly list: string;
  readonly state: CanaryState;
  /** Of the change that sends it; a repeat has the same. */
  readonly changeId: string;
  readonly withdrawalId: string;
  readonly begunAt: Date;
  /** What the sink has made of it; null: nothing, or not known. */
  readonly object: Fields | null;
  /** What the sink asked to have remembered. */
  readonly memory: Fields;
  readonly detail: string | null;
}

export type NewCanary = Pick<
  Canary,
  'mark' | 'workspace' | 'pigeonholeId' | 'sink' | 'list' | 'changeId' | 'withdrawalId'
>;

/** Who is at it, and for how long nobody else may be. */
export interface CanaryClaim {
  readonly owner: string;
  readonly leaseMs: number;
}

export type CanaryPlace = Pick<Canary, 'workspace' | 'pigeonholeId'>;

const columns = `number, mark, workspace, pigeonhole_id as "pigeonholeId", sink, list, state, change_id as "changeId",
  withdrawal_id as "withdrawalId", begun_at as "begunAt", object, memory, detail`;

type Row = Omit<Canary, 'object' | 'memory'> & { readonly object: string | null; readonly memory: string };

/**
 * Notes that a canary is about to be sent, in the place of those before it that are over.
 * @returns undefined while another one of the sink and pigeonhole is still to be taken back
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
 * Notes how far a canary is, and keeps it for as long again.
 * @throws {LedgerError} kind `stale` when another process has taken it since: nothing of it may be sent then
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

/** Nobody is at it any more: whoever looks next takes it back. */
export async function releaseCanary(ledger: Ledger, number: number, owner: string): Promise<void> {
  await ledger.db.query(`update canaries set leased_until = clock_timestamp() where number = $1 and owner = $2`, [
    number,
    owner,
  ]);
}

/** Takes over the canaries that nobody is at and that are still to be taken back. @param place null: everywhere */
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

/** Canaries of a pigeonhole that nobody is at and that may stand somewhere: to be taken back, or by hand. */
export async function canariesLeft(ledger: Ledger, { workspace, pigeonholeId }: CanaryPlace): Promise<Canary[]> {
  const rows = await ledger.db.query<Row>(
    `select ${columns} from canaries
     where workspace = $1 and pigeonhole_id = $2 and state <> 'settled' and leased_until <= clock_timestamp()
     order by number`,
    [workspace, pigeonholeId],
  );
  return rows.map(toCanary);
}

/** No other process is there: whoever was at a canary has ended. */
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
