import type { Command } from 'commander';
import type { RestoreArguments } from './commands/restore.js';
import type { Context } from './context.js';
import type { ExitCode } from './exit-code.js';

const backupHelp = `
Not in it: the ledger's key ("pigeonpost key export"),
without which it cannot be used; the configuration and the
files that sinks write, which are yours; Temporal's data,
which is not needed.

Examples:
  pigeonpost backup /backups/pigeonpost-$(date +%F).tar.gz       an embedded store
  pigeonpost backup /backups/pigeonpost-$(date +%F).dump         PostgreSQL, by pg_dump
  pigeonpost backup /backups/pigeonpost.tar.gz.age --encrypt-to age1...`;

const restoreHelp = `
Stop every process first. Afterwards every sink is paused:
what it was sent after the backup would be sent again.

Examples:
  pigeonpost restore /backups/pigeonpost-2026-11-20.tar.gz
  pigeonpost restore pigeonpost.dump --erasures erasures.json
  pigeonpost restore backup.tar.gz --key-file /safe/ledger.key
  pigeonpost restore backup.tar.gz.age --identity /safe/identity.txt
  pigeonpost restore --mark-only        after pg_restore, a snapshot or point-in-time recovery`;

const keyHelp = `
Whoever has the key and a backup can name the people
behind anonymous items. Keep the key apart from the
backups: none holds it, and none can be used without it.

Examples:
  pigeonpost key export /safe/ledger.key
  pigeonpost key export - | age -r age1... > ledger.key.age`;

/** What keeps the ledger safe. Each is loaded when it is asked for. */
export function addBackupCommands(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  program
    .command('backup <file>')
    .description('copy the ledger into a file, while everything runs; "-" is standard output')
    .option(
      '--encrypt-to <recipient>',
      'encrypt it to this public key of age (age1…); repeat it for several',
      collect,
      [],
    )
    .addHelpText('after', backupHelp)
    .action(async (file: string, options: { encryptTo: string[] }) => {
      const { backup } = await import('./commands/backup.js');
      finish(await backup(context(), { file, ...options }));
    });
  const key = program.command('key').description('the key that the ledger hashes with, which is in no backup');
  key
    .command('export <file>')
    .description('write the key into a file for its owner alone; "-" is standard output')
    .addHelpText('after', keyHelp)
    .action(async (file: string) => {
      const { exportKey } = await import('./commands/key.js');
      finish(await exportKey(context(), { file }));
    });
  program
    .command('restore [file]')
    .description('put a backup in the place of the ledger, with every sink paused until a person resumes it')
    .option('--mark-only', 'the store was restored by other means: only pause the sinks', false)
    .option('--erasures <file>', 'of "erasures export": whoever is in it is forgotten again')
    .option('--key-file <file>', "the ledger's key, where the folder does not have it")
    .option('--identity <file>', 'the identity file of age that decrypts a backup made with --encrypt-to')
    .option('--other-ledger', 'also in the place of a store that is another ledger', false)
    .option('--yes', 'do not ask', false)
    .option('--json', 'one JSON document', false)
    .addHelpText('after', restoreHelp)
    .action(async (file: string | undefined, options: Omit<RestoreArguments, 'file'>) => {
      const { restore } = await import('./commands/restore.js');
      finish(await restore(context(), { file, ...options }));
    });
}

function collect(text: string, before: readonly string[]): string[] {
  return [...before, text];
}
