import type { Command } from 'commander';
import { exampleText, type Run } from '../command-options.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf } from '../instance.js';
import { writePrivateFile } from '../write-private-file.js';

/** Adds `pigeonpost person`. */
export function addPerson(program: Command, run: Run): void {
  program
    .command('person <id|code|email>')
    .description('Export everything stored about a person, to answer their request')
    .option('--export [file]', 'the data as JSON, and where it was sent, in a new file or on standard output')
    .addHelpText('after', exampleText('person maria@example.com --export maria.json'))
    .action((attendee: string, options: Omit<PersonOptions, 'attendee'>) =>
      run((context) => person(context, { attendee, ...options })),
    );
}

export interface PersonOptions {
  /** An id, a code or an e-mail address. */
  readonly attendee: string;
  /** A file; `true`: standard output; undefined: it was not asked for. */
  readonly export?: string | true | undefined;
}

/**
 * `pigeonpost person <id> --export [FILE]`: everything that is stored of a person and where it was sent, as JSON. A file
 * is made for its owner's eyes, and never written over. Exit 0, 4 when nobody is known by that.
 */
export async function person(context: Context, options: PersonOptions): Promise<ExitCode> {
  const { out } = context;
  const target = options.export;
  if (target === undefined) {
    throw new CommandError(ExitCode.WrongUse, 'what is to be done with the person: add --export, or --export FILE');
  }
  const stored = await (await clientOf(context)).exportPerson(options.attendee);
  const text = JSON.stringify(stored, null, 2);
  if (target === true) out.line(text);
  else {
    await writePrivateFile(target, `${text}\n`);
    out.line(`${stored.items.length} items and ${stored.importRows.length} rows of imports are in ${target}`);
  }
  return ExitCode.Done;
}
