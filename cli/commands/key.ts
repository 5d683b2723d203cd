import { findLedgerKey } from '../../worker/key-place-of.js';
import { loadOfflineConfig } from '../../operations/load-process-config.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { writePrivateFile } from '../write-private-file.js';

/**
 * `pigeonpost key export <file>`: the ledger's key in a file for its owner alone, to be kept apart from the backups. Needs
 * no running process. Exit 0, 1 when there is no key or the file exists.
 * @param file `-` writes to standard output, and never to a terminal
 */
export async function exportKey({ config, out }: Context, { file }: { file: string }): Promise<ExitCode> {
  if (file === '-' && process.stdout.isTTY) {
    throw new CommandError(ExitCode.WrongUse, 'a key is never written to a terminal: give a file, or a pipe');
  }
  const key = await findLedgerKey(await loadOfflineConfig(config));
  if (file === '-') {
    out.line(key.reveal());
    return ExitCode.Done;
  }
  await writePrivateFile(file, key.reveal());
  out.line(`${file} is the key of the ledger`);
  out.note('whoever has it and a backup can name who is behind anonymous items: keep the two apart');
  return ExitCode.Done;
}
