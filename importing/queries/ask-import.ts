import type { Ledger } from '../../ledger/ledger.js';

/** Asks for the end of an import; what is on its way is settled first. @returns false when it has ended already */
export async function askToCancel(ledger: Ledger, id: string, by: string | null): Promise<boolean> {
  const rows = await ledger.db.query(
    `update imports set cancel_asked_at = coalesce(cancel_asked_at, now()), cancel_asked_by = coalesce(cancel_asked_by, $2)
     where id = $1 and state = 'running' returning number`,
    [id, by],
  );
  return rows.length > 0;
}

/** The imports that a workflow should be running for. */
export async function runningImports(ledger: Ledger): Promise<{ id: string; workspace: string }[]> {
  return await ledger.db.query(
    `select i.id, p.workspace from imports i join pigeonholes p on p.ref = i.ref where i.state = 'running' order by i.number`,
  );
}
