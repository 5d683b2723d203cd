import type { Command } from 'commander';
import type { ImportAction } from '../importing/desk/import-request.js';
import type { Context } from './context.js';
import { exampleText } from './example-text.js';
import type { ExitCode } from './exit-code.js';
import type { ImportOptions } from './imports/import-options.js';
import { wholeNumber } from './whole-number.js';

type Finish = (code: ExitCode) => void;

/** `pigeonpost import`, and what is asked of an import that has begun. Each is loaded when it is asked for. */
export function addImportCommands(program: Command, context: () => Context, finish: Finish): void {
  const command = program
    .command('import')
    .description('create the registrants of a file: CSV, Excel (xlsx), JSON or NDJSON')
    .argument('<file>', 'a name that is also a command below is written ./name')
    .option('--pigeonhole <id>', 'into this one, which has to be named: ID or WORKSPACE/ID') // required, but not below
    .option('--dry-run', 'only say what would be sent, and what is wrong', false)
    .option('--map <column=field>', 'a column and its field, "COLUMN=" not to send it; or a saved mapping', collect, [])
    .option('--save-map <name>', 'keep the mapping under this name, for the next event')
    .option('--canary <n>', 'import so many rows and stop, so that you can look at them', wholeNumber(1000))
    .option('--generate-codes', 'give rows without a code one, and write the codes beside the file', false)
    .option('--force', 'also into a pigeonhole that has ended', false)
    .option('--encoding <name>', 'of the text, where it is not found: windows-1252, utf-8, …')
    .option('--delimiter <character>', 'between the cells of a CSV file, where it is not found; also "tab"')
    .option('--sheet <name>', 'of an Excel file; else the first')
    .option('--problems <file>', 'write all problems of the file there, as CSV')
    .option('--report <file>', 'write what became of each row there, as CSV that can be corrected and imported again')
    .option('--yes', 'do not ask', false)
    .option('--no-wait', 'end once the import has begun')
    .option('--json', 'one JSON document, last', false)
    .addHelpText(
      'after',
      `
Examples:
  pigeonpost import people.csv --pigeonhole 123 --dry-run
  pigeonpost import people.xlsx --pigeonhole acme/123 --map "Ticket=attendeeCode" --map "Notes=" --save-map tickets
  pigeonpost import people.csv --pigeonhole 123 --canary 1
  pigeonpost import people.csv --pigeonhole 123 --report report.csv`,
    )
    .action(async (file: string, options: Omit<ImportOptions, 'file'>) => {
      const { importFile } = await import('./commands/import.js');
      finish(await importFile(context(), { file, ...options }));
    });
  addQuestions(command, context, finish);
  addActions(command, context, finish);
}

function addQuestions(command: Command, context: () => Context, finish: Finish): void {
  command
    .command('list')
    .description('imports, newest first')
    .option('--limit <n>', 'so many', wholeNumber(100_000), 100)
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('import list --limit 20'))
    .action(async ({ limit }: { limit: number }, own: Command) => {
      const { listImports } = await import('./commands/imports.js');
      finish(await listImports(context(), { limit, ...shared(own) }));
    });
  command
    .command('status <id>')
    .description('how an import stands now')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', exampleText('import status 7'))
    .action(async (id: string, _: object, own: Command) => {
      const { importStatus } = await import('./commands/imports.js');
      finish(await importStatus(context(), { id, ...shared(own) }));
    });
  command
    .command('follow <id>')
    .description('the progress of an import until it has ended, then its report')
    .option('--report <file>', 'write what became of each row there, as CSV')
    .option('--json', 'one JSON document, last', false)
    .addHelpText('after', exampleText('import follow 7 --report report.csv'))
    .action(async (id: string, _: object, own: Command) => {
      const { followOne } = await import('./commands/imports.js');
      finish(await followOne(context(), { id, ...shared(own) }));
    });
  command
    .command('report <id>')
    .description('what became of each row, as CSV that can be corrected and imported again')
    .option('--json', 'counts and problems instead, one JSON document', false)
    .addHelpText('after', exampleText('import report 7 > report.csv'))
    .action(async (id: string, _: object, own: Command) => {
      const { importReport } = await import('./commands/imports.js');
      finish(await importReport(context(), { id, ...shared(own) }));
    });
}

function addActions(command: Command, context: () => Context, finish: Finish): void {
  const verbs = {
    pause: 'send no further rows until it is resumed',
    resume: 'go on with what was paused',
    cancel: 'send no further rows; what was created stays',
  } as const;
  for (const verb of Object.keys(verbs) as ImportAction['do'][]) {
    const action = command
      .command(`${verb} <id>`)
      .description(verbs[verb])
      .option('--reason <text>', 'why, for those who look later; without personal data')
      .option('--json', 'one JSON document', false)
      .addHelpText('after', exampleText(`import ${verb} 7`))
      .action(async (id: string, { reason }: { reason?: string }, own: Command) => {
        const { actOnImport } = await import('./commands/imports.js');
        finish(await actOnImport(context(), { verb, id, reason, ...shared(own) }));
      });
    if (verb === 'cancel') action.option('--yes', 'do not ask', false);
  }
}

/** Options that `import` has as well: it takes them, wherever they stand. */
function shared(own: Command): { readonly json: boolean; readonly yes: boolean; readonly report?: string } {
  return own.optsWithGlobals<{ json: boolean; yes: boolean; report?: string }>();
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
