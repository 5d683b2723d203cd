import { type CliCommand, collect, type Context } from '../command.js';
import { CommandError, ExitCode, wrongUse } from '../exit-code.js';
import { askStreamed, instanceOf } from '../api-client.js';
import { countBytes, withProgress } from '../progress.js';
import type { BackupBytes } from '../../operations/backup/backup-store.js';
import type { IncomingMessage } from 'node:http';
import type { ApiAddress } from '../find-instance.js';
import { writePrivateFile } from '../files.js';

const backupHelp = `
For an embedded store; use pg_dump for a PostgreSQL store.
A backup does not contain the configuration, the files that
sinks write, or the ledger's key. A restore needs the key:
export it with "pigeonpost key export".

Examples:
  pigeonpost backup /backups/pigeonpost-$(date +%F).tar.gz
  pigeonpost backup /backups/pigeonpost.tar.gz.age --encrypt-to age1...`;

export function addBackup(program: CliCommand): void {
  program
    .command('backup <file>')
    .description('Copy the ledger into a file while pigeonpost runs; "-" is standard output')
    .option('--encrypt-to <recipient>', 'public key of age (age1…) to encrypt to; may be repeated', collect, [])
    .addHelpText('after', backupHelp)
    .runs(backup);
}

/**
 * `pigeonpost backup <file>`: writes a consistent copy of an embedded store, through the process that runs on it or, if
 * none runs, from its folder. Exit 0; 1 if it fails; 2 for a PostgreSQL store, which PostgreSQL's own tools back up.
 * @param file `-` writes to standard output
 * @param options.encryptTo age recipients; if empty, the backup is not encrypted
 */
async function backup(
  context: Context,
  file: string,
  { encryptTo }: { readonly encryptTo: readonly string[] },
): Promise<ExitCode> {
  const { packUnusedStore, passOn, writeBackup } = await import('../../operations/backup/backup-store.js');
  const { encrypterTo } = await import('../../operations/backup/age.js');
  const { out } = context;
  const encrypt = encryptTo.length === 0 ? undefined : await encrypterTo(encryptTo);
  const { config, address } = await instanceOf(context);
  const { store } = config ?? { store: { kind: 'elsewhere' as const } };
  refuseTerminal('a backup', file);
  const use = async (bytes: BackupBytes): Promise<void> =>
    file === '-'
      ? await passOn(encrypt?.(bytes) ?? bytes, process.stdout)
      : await writeBackup(file, withProgress(countBytes(bytes), file), encrypt);
  switch (store.kind) {
    case 'unknown':
    case 'postgres':
      throw wrongUse(
        `the store of ${context.config} is a PostgreSQL database: back it up with PostgreSQL's own tools, pg_dump --format=custom --no-owner --no-privileges --file=${file} "$DATABASE_URL"`,
      );
    case 'elsewhere':
      await use(await askForBackup(await address()));
      break;
    case 'embedded':
      try {
        await packUnusedStore(store.folder, use);
      } catch (error) {
        if (!(error instanceof Error && 'kind' in error && error.kind === 'locked')) throw error;
        await use(await askForBackup(await address()));
      }
  }
  const what = store.kind === 'embedded' ? store.folder : context.url;
  if (file !== '-') out.line(`${file} is a backup of ${what}`);
  out.note(
    encrypt === undefined
      ? 'the backup contains the personal data of the ledger: store it accordingly, and delete it when it is no longer needed'
      : `only the identity of ${encryptTo.length === 1 ? 'its recipient' : `one of its ${encryptTo.length} recipients`} decrypts it: "pigeonpost restore FILE --identity IDENTITY-FILE". The backup contains personal data: delete it when it is no longer needed`,
  );
  out.note(
    `the backup does not contain the ledger's key, which a restore needs: save it with "pigeonpost key export FILE"`,
  );
  return ExitCode.Done;
}

/** @throws {CommandError} exit 2 if the output is a terminal */
function refuseTerminal(what: string, file: string): void {
  if (file !== '-' || !process.stdout.isTTY) return;
  throw wrongUse(`${what} cannot be written to a terminal: give a file, or redirect standard output`);
}

/**
 * Streams the embedded store of a running pigeonpost.
 * @throws {CommandError} also while the stream is read, if the process stops before the backup is complete
 */
export async function askForBackup(address: ApiAddress): Promise<AsyncIterable<Uint8Array>> {
  return whole(await askStreamed(() => Promise.resolve(address), { path: '/api/backup' }));
}

/** Yields the response. If it ends early, throws an error that names the running process and not the backup file. */
async function* whole(answer: IncomingMessage): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const bytes of answer) yield bytes as Uint8Array;
  } catch (error) {
    throw new CommandError(
      ExitCode.Failed,
      'the running pigeonpost aborted the backup, so no file was written: check its log, and that its disk has room for a copy of the store',
      { cause: error },
    );
  }
}

const keyHelp = `
Anyone who has the key and a backup can identify the people
behind anonymous items. Keep the key apart from the backups.
No backup contains it, and no backup can be restored without
it.

Examples:
  pigeonpost key export /safe/ledger.key
  pigeonpost key export - | age -r age1... > ledger.key.age`;

export function addKey(program: CliCommand): void {
  const key = program.command('key').description("Export the ledger's hashing key, which backups do not contain");
  key
    .command('export <file>')
    .description('Write the key into a file that only you can read; "-" is standard output')
    .addHelpText('after', keyHelp)
    .runs(exportKey, { offline: 'key export' });
}

/**
 * `pigeonpost key export <file>`: writes the ledger's key to a file that only its owner can read, to store apart from
 * the backups. Needs no running process. Exit 0, 1 if there is no key or the file exists.
 * @param file `-` writes to standard output, but never to a terminal
 */
async function exportKey({ config, out }: Context, file: string): Promise<ExitCode> {
  const { loadStoreConfig } = await import('../../operations/command-input.js');
  const { findLedgerKey } = await import('../../worker/key-place-of.js');
  refuseTerminal('a key', file);
  const key = await findLedgerKey(await loadStoreConfig(config));
  if (file === '-') {
    out.line(key.reveal());
    return ExitCode.Done;
  }
  await writePrivateFile(file, key.reveal());
  out.line(`the key of the ledger is in ${file}`);
  out.note(
    'anyone with this key and a backup can identify the people behind anonymous items: store the two separately',
  );
  return ExitCode.Done;
}
