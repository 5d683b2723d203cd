import type { Command } from 'commander';
import type { Context } from './context.js';
import { exampleText } from './example-text.js';
import type { ExitCode } from './exit-code.js';
import { wholeNumber } from './whole-number.js';

interface ForgetArguments {
  readonly attendee: string;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly reason?: string;
  readonly json: boolean;
}

/** What a person may ask for of what is stored of them (docs/privacy.md). Each is loaded when it is asked for. */
export function addPrivacyCommands(program: Command, context: () => Context, finish: (code: ExitCode) => void): void {
  program
    .command('forget')
    .description('have a person forgotten everywhere: the ledger, imports, files, and each sink as its onForget says')
    .requiredOption('--attendee <id|code|email>', 'who; id:42, code:42 or email:… where it could be two')
    .option('--dry-run', 'only count what would go', false)
    .option('--yes', 'do not ask', false)
    .option('--reason <text>', 'why, for those who look later, so without personal data')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('forget --attendee somebody@example.com --dry-run'))
    .action(async (options: ForgetArguments) => {
      const { forget } = await import('./commands/forget.js');
      finish(await forget(context(), options));
    });
  const erasures = program.command('erasures').description('requests to forget a person, and what became of them');
  erasures
    .command('list')
    .description('newest first; who it was is not kept')
    .option('--limit <n>', 'so many', wholeNumber(100_000), 100)
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('erasures list --limit 20'))
    .action(async (options: { limit: number; json: boolean }) => {
      const { listErasures } = await import('./commands/forget.js');
      finish(await listErasures(context(), options));
    });
  erasures
    .command('show <id>')
    .description('what became of the person at each place, and what is left to be done by hand')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('erasures show 4f1c1e0a-6d1b-5a57-9d4e-0a8c3f1f6b21'))
    .action(async (id: string, options: { json: boolean }) => {
      const { showErasure } = await import('./commands/forget.js');
      finish(await showErasure(context(), { id, ...options }));
    });
  erasures
    .command('export <file>')
    .description('who stays away, by hashes alone, for "restore --erasures"; "-" is standard output')
    .addHelpText('after', exampleText('erasures export /backups/erasures-2026-11-21.json'))
    .action(async (file: string) => {
      const { exportErasures } = await import('./commands/forget.js');
      finish(await exportErasures(context(), { file }));
    });
  erasures
    .command('lift <id>')
    .description('take in again what comes of the person, who has come back by their own wish')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('erasures lift 4f1c1e0a-6d1b-5a57-9d4e-0a8c3f1f6b21'))
    .action(async (id: string, options: { json: boolean }) => {
      const { liftErasure } = await import('./commands/forget.js');
      finish(await liftErasure(context(), { id, ...options }));
    });
  program
    .command('person <id|code|email>')
    .description('what is stored of a person by name, for the person who asks for it')
    .option('--export [file]', 'all of it as JSON, and where it was sent: to a new file, or to standard output')
    .addHelpText('after', exampleText('person somebody@example.com --export somebody.json'))
    .action(async (attendee: string, options: { export?: string | true }) => {
      const { person } = await import('./commands/person.js');
      finish(await person(context(), { attendee, ...options }));
    });
}
