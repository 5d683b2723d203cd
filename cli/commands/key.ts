import type { Command } from 'commander';
import type { Run, Context } from '../command.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { writePrivateFile } from '../files.js';

const keyHelp = `
Anyone who has the key and a backup can identify the people
behind anonymous items. Keep the key apart from the backups.
No backup contains it, and no backup can be restored without
it.

Examples:
  pigeonpost key export /safe/ledger.key
  pigeonpost key export - | age -r age1... > ledger.key.age`;

/** Adds `pigeonpost key export`. */
export function addKey(program: Command, run: Run): void {
  const key = program.command('key').description("Export the ledger's hashing key, which backups do not contain");
  key
    .command('export <file>')
    .description('Write the key into a file that only you can read; "-" is standard output')
    .addHelpText('after', keyHelp)
    .action((file: string) => run((context) => exportKey(context, { file }), { offline: 'key export' }));
}

/**
 * `pigeonpost key export <file>`: writes the ledger's key to a file that only its owner can read, to store apart from
 * the backups. Needs no running process. Exit 0, 1 if there is no key or the file exists.
 * @param file `-` writes to standard output, but never to a terminal
 */
async function exportKey({ config, out }: Context, { file }: { file: string }): Promise<ExitCode> {
  const { loadStoreConfig } = await import('../../operations/command-input.js');
  const { findLedgerKey } = await import('../../worker/key-place-of.js');
  if (file === '-' && process.stdout.isTTY) {
    throw new CommandError(
      ExitCode.WrongUse,
      'a key cannot be written to a terminal: give a file, or redirect standard output',
    );
  }
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
