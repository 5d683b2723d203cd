import type { Ledger } from '../ledger/ledger.js';

/** Sweep state of the streams of a pigeonhole. */
export interface SweepState {
  readonly workspace: string;
  readonly pigeonholeId: number;
  /** End of the last sweep of the stream that was swept longest ago; null: a stream was never swept. */
  readonly oldestSweptAt: Date | null;
}

/** Returns the sweep states of live pigeonholes. Others are swept rarely, and some days after the event no longer. */
export async function sweepStates(ledger: Ledger): Promise<SweepState[]> {
  return await ledger.db.query<SweepState & Record<string, unknown>>(
    `select p.workspace, p.pigeonhole_id as "pigeonholeId",
       case when bool_and(s.swept_at is not null) then min(s.swept_at) end as "oldestSweptAt"
     from streams s join pigeonholes p on p.ref = s.ref
     where s.wanted and s.gone_at is null and p.gone_at is null and p.status = 'live'
       and s.every_reason is distinct from 'unfilled' -- swept every few hours on purpose: nothing fills it
     group by p.ref`,
  );
}

export interface ImportFigures {
  readonly workspace: string;
  readonly state: 'staging' | 'running' | 'done' | 'cancelled';
  readonly imports: number;
  /** Rows whose import has not started. */
  readonly rowsLeft: number;
}

export async function importFigures(ledger: Ledger): Promise<ImportFigures[]> {
  return await ledger.db.query<ImportFigures & Record<string, unknown>>(
    `select p.workspace, i.state, count(*)::int as imports,
       coalesce(sum(greatest(0, i.rows_claimed - i.begun)) filter (where i.state = 'running'), 0)::int8 as "rowsLeft"
     from imports i join pigeonholes p on p.ref = i.ref group by p.workspace, i.state`,
  );
}

export interface AlertFigures {
  readonly occasion: string;
  readonly raised: number;
}

export async function alertFigures(ledger: Ledger): Promise<{ raised: AlertFigures[]; waiting: number }> {
  const [raised, [messages]] = await Promise.all([
    ledger.db.query<AlertFigures & Record<string, unknown>>(
      `select occasion, count(*)::int as raised from alerts where told and occasion <> 'import-ended' group by occasion`,
    ),
    ledger.db.query<{ waiting: number }>('select count(*)::int as waiting from alert_messages'),
  ]);
  return { raised, waiting: messages!.waiting };
}
