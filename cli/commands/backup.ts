import { askForBackup } from '../ask-for-backup.js';
import { apiAddressOf } from '../api-client.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { keyPlaceOf } from '../../worker/key-place-of.js';
import { loadProcessConfig } from '../../worker/load-process-config.js';
import { type BackupBytes, dumpPostgres, packUnusedStore, writeBackup } from '../../worker/backup/backup-store.js';
import { passOn } from '../../worker/backup/write-whole.js';

/**
 * `pigeonpost backup <file>`: the ledger as it is at one instant, while everything runs. An embedded store is asked of the
 * process that has it, or copied where none has; PostgreSQL's own tool dumps a database. Exit 0, 1 when it is not done.
 * @param file `-` writes to standard output (embedded stores alone)
 */
export async function backup({ config, out }: Context, { file }: { file: string }): Promise<ExitCode> {
  const loaded = await loadProcessConfig(config);
  const { store } = loaded;
  if (file === '-' && (store.kind === 'postgres' || process.stdout.isTTY)) {
    throw new CommandError(
      ExitCode.WrongUse,
      'a backup is written to standard output of an embedded store, and never to a terminal: give a file',
    );
  }
  if (store.kind === 'postgres') {
    await dumpPostgres(store, file);
  } else {
    const use = async (bytes: BackupBytes): Promise<void> =>
      file === '-' ? await passOn(bytes, process.stdout) : await writeBackup(file, bytes);
    try {
      await packUnusedStore(store.folder, use);
    } catch (error) {
      if (!(error instanceof Error && 'kind' in error && error.kind === 'locked')) throw error;
      await use(await askForBackup(apiAddressOf(loaded)));
    }
  }
  if (file !== '-') out.line(`${file} is a backup of ${store.kind === 'postgres' ? 'the database' : store.folder}`);
  out.note('it holds personal data as the ledger does: keep it where those may be kept, and no longer');
  out.note(
    `the ledger's key is not in it and is needed to restore it: "pigeonpost key export" writes it (it is kept in ${keyPlaceOf(loaded).name})`,
  );
  return ExitCode.Done;
}
