import { askForBackup } from '../ask-for-backup.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { instanceOf } from '../instance.js';
import { encrypterTo } from '../../operations/backup/age.js';
import {
  type BackupBytes,
  dumpPostgres,
  packUnusedStore,
  writeBackup,
  passOn,
} from '../../operations/backup/backup-store.js';

/**
 * `pigeonpost backup <file>`: the ledger as it is at one instant, while everything runs. An embedded store is asked of the
 * process that has it, or copied where none has; PostgreSQL's own tool dumps a database. Exit 0, 1 when it is not done.
 * @param asked.file `-` writes to standard output (only of an embedded store)
 * @param asked.encryptTo recipients of age; none: the backup is not encrypted
 */
export async function backup(
  context: Context,
  { file, encryptTo }: { file: string; encryptTo: readonly string[] },
): Promise<ExitCode> {
  const { out } = context;
  const encrypt = encryptTo.length === 0 ? undefined : await encrypterTo(encryptTo);
  const { config, address } = await instanceOf(context);
  const isElsewhere = config === undefined; // --url
  const { store } = config ?? { store: { kind: 'elsewhere' as const } };
  if (file === '-' && (store.kind === 'postgres' || process.stdout.isTTY)) {
    throw new CommandError(
      ExitCode.WrongUse,
      'a backup is written to standard output of an embedded store, and never to a terminal: give a file',
    );
  }
  const use = async (bytes: BackupBytes): Promise<void> =>
    file === '-' ? await passOn(encrypt?.(bytes) ?? bytes, process.stdout) : await writeBackup(file, bytes, encrypt);
  switch (store.kind) {
    case 'unknown':
      throw new CommandError(
        ExitCode.WrongUse,
        `a backup of a database needs its URL: set the environment variable that "store" of ${context.config} names`,
      );
    case 'elsewhere':
      await use(await askForBackup(await address()));
      break;
    case 'postgres':
      await dumpPostgres(store, file, encrypt);
      break;
    case 'embedded':
      try {
        await packUnusedStore(store.folder, use);
      } catch (error) {
        if (!(error instanceof Error && 'kind' in error && error.kind === 'locked')) throw error;
        await use(await askForBackup(await address()));
      }
  }
  const what = store.kind === 'embedded' ? store.folder : isElsewhere ? context.url : 'the database';
  if (file !== '-') out.line(`${file} is a backup of ${what}`);
  out.note(
    encrypt === undefined
      ? 'it holds personal data as the ledger does: keep it where those may be kept, and no longer'
      : `only the identity of ${encryptTo.length === 1 ? 'its recipient' : `one of its ${encryptTo.length} recipients`} decrypts it: "pigeonpost restore FILE --identity IDENTITY-FILE". It holds personal data: delete it when it is no longer needed`,
  );
  out.note(`the ledger's key is not in it and is needed to restore it: "pigeonpost key export FILE" writes it`);
  return ExitCode.Done;
}
