import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import type { Queryable } from './drivers/database.js';
import type { Ledger } from './ledger.js';
import { LedgerError } from './ledger-error.js';

/** The file of a configuration, and who made it the current one. */
export interface Edition {
  /** The file with secrets that are written in it replaced; null: it is not kept. */
  readonly text: string | null;
  /** Name of the caller; null: the start of a process. */
  readonly by: string | null;
}

const unknownEdition: Edition = { text: null, by: null };

/**
 * Makes a configuration the current one and returns its number. If it is current already, this writes nothing. A
 * configuration that was never current gets the next number. A configuration that was current earlier is refused,
 * because a process started with an outdated file would silently undo later changes.
 * @param document normalized, with keyed fingerprints in place of secrets
 * @param accept true to accept a configuration that was current earlier
 * @throws {LedgerError} kind `configuration`
 */
export async function useConfiguration(
  ledger: Ledger,
  document: unknown,
  accept: boolean,
  edition: Edition = unknownEdition,
): Promise<number> {
  const text = canonicalJson(document);
  const digest = digestOf(text);
  return await ledger.db.transaction(async (tx) => {
    await tx.query('lock table configurations in exclusive mode');
    const current = await newestConfiguration(tx);
    if (current?.digest === digest) {
      await keepText(tx, current.number, edition);
      return current.number;
    }
    if (!accept) await refuseOlder(tx, digest, current);
    return await addConfiguration(tx, (current?.number ?? 0) + 1, { text, edition });
  });
}

/**
 * Refuses a configuration that `useConfiguration` would refuse. Changes nothing.
 * @throws {LedgerError} kind `configuration`
 */
export async function refuseOlderConfiguration({ db }: Pick<Ledger, 'db'>, document: unknown): Promise<void> {
  const digest = digestOf(canonicalJson(document));
  const current = await newestConfiguration(db);
  if (current?.digest !== digest) await refuseOlder(db, digest, current);
}

async function refuseOlder(
  tx: Queryable,
  digest: string,
  current: { readonly number: number } | undefined,
): Promise<void> {
  const [older] = await tx.query<{ number: number }>(
    'select number from configurations where digest = $1 order by number limit 1',
    [digest],
  );
  if (older === undefined) return;
  throw new LedgerError(
    'configuration',
    `this file is configuration ${older.number}, and ${current!.number} is current: start the newer file, or make this one current again with --accept-config`,
  );
}

async function newestConfiguration(tx: Queryable): Promise<{ number: number; digest: string } | undefined> {
  const [row] = await tx.query<{ number: number; digest: string }>(
    'select number, digest from configurations order by number desc limit 1',
  );
  return row;
}

async function addConfiguration(
  tx: Queryable,
  number: number,
  { text, edition }: { readonly text: string; readonly edition: Edition },
): Promise<number> {
  await tx.query(
    'insert into configurations (number, document, digest, applied_by, text) values ($1, $2::json, $3, $4, $5)',
    [number, text, digestOf(text), edition.by, edition.text],
  );
  return number;
}

/** Keeps the present text of a file whose configuration stays the same, such as with another comment. */
async function keepText(tx: Queryable, number: number, { text }: Edition): Promise<void> {
  if (text === null) return;
  await tx.query('update configurations set text = $2 where number = $1 and text is distinct from $2', [number, text]);
}

function digestOf(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** Returns the number of a configuration if it is the current one, otherwise undefined. */
export async function isCurrentConfiguration(ledger: Ledger, document: unknown): Promise<number | undefined> {
  const row = await newestConfiguration(ledger.db);
  return row?.digest === digestOf(canonicalJson(document)) ? row.number : undefined;
}

/**
 * Replaces the current configuration, after the caller has compared it with the new one. If the two are equal, this
 * writes nothing and returns the current number.
 * @param after the number of the configuration to replace
 * @throws {LedgerError} kind `configuration` if another configuration is current
 */
export async function replaceConfiguration(
  ledger: Ledger,
  document: unknown,
  after: number,
  edition: Edition = unknownEdition,
): Promise<number> {
  const text = canonicalJson(document);
  return await ledger.db.transaction(async (tx) => {
    await tx.query('lock table configurations in exclusive mode');
    const row = await newestConfiguration(tx);
    if (row?.number !== after) throw anotherConfiguration(after, row?.number ?? 0);
    if (row.digest === digestOf(text)) {
      await keepText(tx, row.number, edition);
      return row.number;
    }
    return await addConfiguration(tx, after + 1, { text, edition });
  });
}

/** The error for a process whose configuration is not the current one. */
export function anotherConfiguration(own: number, current: number): LedgerError {
  return new LedgerError(
    'configuration',
    `this process runs configuration ${own}, and ${current} is current: give it the current file, which it loads automatically, or restart it`,
  );
}

/** A configuration that is or was current. */
export interface StoredConfiguration extends Edition {
  readonly number: number;
  readonly appliedAt: Date;
  readonly document: unknown;
}

/**
 * Returns configurations, newest first.
 * @param choice.number only this one; null: all
 * @param choice.before only those with a lower number; null: all
 */
export async function storedConfigurations(
  ledger: Ledger,
  { number, before, limit }: { readonly number: number | null; readonly before: number | null; readonly limit: number },
): Promise<StoredConfiguration[]> {
  const rows = await ledger.db.query<Omit<StoredConfiguration, 'document'> & { document: string }>(
    `select number, applied_at as "appliedAt", applied_by as by, text, document::text as document from configurations
     where ($1::int4 is null or number = $1) and ($2::int4 is null or number < $2) order by number desc limit $3`,
    [number, before, limit],
  );
  return rows.map((row) => ({ ...row, document: JSON.parse(row.document) as unknown }));
}

/** Returns the instants since `since` at which a configuration became the current one. */
export async function configurationsSince(
  ledger: Ledger,
  since: Date,
): Promise<{ readonly number: number; readonly appliedAt: Date }[]> {
  return await ledger.db.query(
    `select number, applied_at as "appliedAt" from configurations where applied_at > $1 order by number`,
    [since],
  );
}

/** Returns the document of a configuration; undefined if there is none with this number. */
export async function configurationDocument(ledger: Ledger, number: number): Promise<unknown> {
  const [row] = await ledger.db.query<{ document: string }>(
    'select document::text as document from configurations where number = $1',
    [number],
  );
  return row === undefined ? undefined : JSON.parse(row.document);
}

/** Returns the number of the current configuration. A process that runs another one refuses work. */
export async function currentConfiguration(ledger: Ledger): Promise<number> {
  const [row] = await ledger.db.query<{ number: number | null }>('select max(number) as number from configurations');
  return row?.number ?? 0;
}

/**
 * Throws if the process's configuration is not the current one, because two configurations would undo each other's
 * work.
 * @throws {LedgerError} kind `configuration`, which Temporal retries until a process with the current configuration
 *   runs the activity
 */
export async function requireCurrentConfiguration({
  ledger,
  configuration,
}: {
  readonly ledger: Ledger;
  readonly configuration: number;
}): Promise<void> {
  const current = await currentConfiguration(ledger);
  if (current !== configuration) throw anotherConfiguration(configuration, current);
}
