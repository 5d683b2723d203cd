import { counted } from '../../base/words.js';
import type { Command } from 'commander';
import { exampleText, type Run, type Context } from '../command.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf } from '../api-client.js';
import { writePrivateFile } from '../files.js';

/** Adds `pigeonpost person`. */
export function addPerson(program: Command, run: Run): void {
  program
    .command('person <id|code|email>')
    .description('Export everything stored about a person, to answer their request')
    .option('--export [file]', 'write the data and where it was sent as JSON, into a new file or to standard output')
    .addHelpText('after', exampleText('person maria@example.com --export maria.json'))
    .action((attendee: string, options: Omit<PersonOptions, 'attendee'>) =>
      run((context) => person(context, { attendee, ...options })),
    );
}

interface PersonOptions {
  /** An id, a code or an e-mail address. */
  readonly attendee: string;
  /** A file; `true`: standard output; undefined: not requested. */
  readonly export?: string | true | undefined;
}

/**
 * `pigeonpost person <id> --export [FILE]`: writes everything stored about a person, and where it was sent, as JSON.
 * Only the owner can read the file; an existing file is never overwritten. Exit 0, 4 if the person is unknown.
 */
async function person(context: Context, options: PersonOptions): Promise<ExitCode> {
  const { out } = context;
  const target = options.export;
  if (target === undefined) {
    throw new CommandError(
      ExitCode.WrongUse,
      'add --export to print the data, or --export FILE to write it into a file',
    );
  }
  const stored = await (await clientOf(context)).exportPerson(options.attendee);
  const text = JSON.stringify(stored, null, 2);
  if (target === true) out.line(text);
  else {
    await writePrivateFile(target, `${text}\n`);
    out.line(
      `${counted(stored.items.length, 'item')} and ${counted(stored.importRows.length, 'import row')} written to ${target}`,
    );
  }
  return ExitCode.Done;
}
