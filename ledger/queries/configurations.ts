import { hash } from 'node:crypto';
import { canonicalJson } from '../canonical-json.js';
import type { Ledger } from '../ledger.js';
import { LedgerError } from '../ledger-error.js';

/**
 * Makes a configuration the current one and gives its number. The same as the current one: its number, nothing is
 * written. One that was never current: the next number. An older one is refused, since a process started from a
 * forgotten file would quietly undo what was applied after it.
 * @param document normalized, with keyed fingerprints in place of secrets
 * @param accept take an older one all the same
 * @throws {LedgerError} kind `configuration`
 */
export async function useConfiguration(ledger: Ledger, document: unknown, accept: boolean): Promise<number> {
  const text = canonicalJson(document);
  const digest = hash('sha256', text, 'base64url');
  return await ledger.db.transaction(async (tx) => {
    await tx.query('lock table configurations in exclusive mode');
    const rows = await tx.query<{ number: number; digest: string }>(
      'select number, digest from configurations where digest = $1 or number = (select max(number) from configurations) order by number',
      [digest],
    );
    const current = rows.at(-1);
    if (current?.digest === digest) return current.number;
    const older = rows.find((row) => row.digest === digest);
    if (older !== undefined && !accept) {
      throw new LedgerError(
        'configuration',
        `this file is configuration ${older.number}, and ${current!.number} is current: start the newer file, or make this one current again with --accept-config`,
      );
    }
    const number = (current?.number ?? 0) + 1;
    await tx.query('insert into configurations (number, document, digest) values ($1, $2::json, $3)', [
      number,
      text,
      digest,
    ]);
    return number;
  });
}

/** The number of the current configuration. A process that runs another one refuses work. */
export async function currentConfiguration(ledger: Ledger): Promise<number> {
  const [row] = await ledger.db.query<{ number: number | null }>('select max(number) as number from configurations');
  return row?.number ?? 0;
}
