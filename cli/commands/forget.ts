import { counted } from '../../base/words.js';
import type { Command } from 'commander';
import { exampleText, wholeNumber, type Run, type Context, confirm, operatorName } from '../command.js';
import { randomUUID } from 'node:crypto';
import type { WholeErasureView, ErasurePlanView } from '../../api/erasures.js';
import { type ApiClient, clientOf, firstOfList, thereIsMore } from '../api-client.js';
import type { Output } from '../output.js';
import { ExitCode, CommandError } from '../exit-code.js';
import { writePrivateFile } from '../files.js';

export function addForget(program: Command, run: Run): void {
  program
    .command('forget')
    .description('Erase a person from the ledger, imports and files, and from each sink according to its onForget')
    .requiredOption('--attendee <id|code|email>', 'the person; id:42, code:42 or email:… if it is ambiguous')
    .option('--dry-run', 'show the plan without erasing anything', false)
    .option('--yes', 'skip the confirmation', false)
    .option('--reason <text>', 'reason that is stored with the erasure, without personal data')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('forget --attendee maria@example.com --dry-run'))
    .action((options: ForgetOptions) => run((context) => forget(context, options)));
}

export function addErasures(program: Command, run: Run): void {
  const erasures = program.command('erasures').description('List requests to forget a person, and their results');
  erasures
    .command('list')
    .description('List erasures, newest first; they do not name the person')
    .option('--limit <n>', 'number of erasures', wholeNumber(100_000), 100)
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('erasures list --limit 20'))
    .action((options: { limit: number; json: boolean }) => run((context) => listErasures(context, options)));
  erasures
    .command('show <id>')
    .description('Show the result in each place, and what remains to be done manually')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('erasures show 4f1c1e0a-6d1b-5a57-9d4e-0a8c3f1f6b21'))
    .action((id: string, options: { json: boolean }) => run((context) => showErasure(context, { id, ...options })));
  erasures
    .command('export <file>')
    .description('Write the hashes of forgotten people for "restore --erasures"; "-" is standard output')
    .addHelpText('after', exampleText('erasures export /backups/erasures-2026-11-21.json'))
    .action((file: string) => run((context) => exportErasures(context, { file })));
  erasures
    .command('lift <id>')
    .description('Accept items of the person again, if that person requests it')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('erasures lift 4f1c1e0a-6d1b-5a57-9d4e-0a8c3f1f6b21'))
    .action((id: string, options: { json: boolean }) => run((context) => liftErasure(context, { id, ...options })));
}

interface ForgetOptions {
  /** An id, a code or an e-mail address. */
  readonly attendee: string;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly reason?: string | undefined;
  readonly json: boolean;
}

/** Maximum time for which the command waits until every sink has responded. */
const waitMs = 60_000;
const lookEveryMs = 500;

/**
 * `pigeonpost forget --attendee <id|code|email>`: erases a person everywhere, after it has shown the plan. Ends
 * when every place has responded, or after a minute: the erasure then continues in the background. Exit 0, 1 if the
 * operator declines, 4 if the person is unknown.
 */
async function forget(context: Context, options: ForgetOptions): Promise<ExitCode> {
  const { out } = context;
  const client = await clientOf(context);
  if (options.dryRun || !options.yes) {
    const plan = await client.planErasure(options.attendee);
    if (options.dryRun) {
      show(out, options.json, plan, planLines(plan));
      return ExitCode.Done;
    }
    if (plan.people.length > 0) {
      for (const line of planLines(plan)) out.note(line);
      if (!(await confirm('Forget this person everywhere? This cannot be undone.'))) {
        out.note('nothing was erased');
        return ExitCode.Failed;
      }
    }
  }
  const asked = { id: randomUUID(), attendee: options.attendee, by: operatorName(), reason: options.reason };
  const erasure = await untilDone(client, await client.forget(asked));
  show(out, options.json, erasure, erasureLines(erasure));
  return ExitCode.Done;
}

async function untilDone(client: ApiClient, begun: WholeErasureView): Promise<WholeErasureView> {
  const until = Date.now() + waitMs;
  let erasure = begun;
  while (erasure.state === 'running' && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    erasure = await client.erasure(erasure.id);
  }
  return erasure;
}

function show(out: Output, json: boolean, value: object, lines: readonly string[]): void {
  if (json) out.line(JSON.stringify(value));
  else for (const line of lines) out.line(line);
}

/** `pigeonpost erasures list`: requests to forget a person, newest first. Exit 0, also when there are none. */
async function listErasures(
  context: Context,
  { limit, json }: { readonly limit: number; readonly json: boolean },
): Promise<ExitCode> {
  const { out } = context;
  const client = await clientOf(context);
  const { items, more } = await firstOfList(limit, (part) => client.erasures(part));
  if (json) out.line(JSON.stringify({ items, more }));
  else if (items.length === 0) out.line('no erasures');
  else
    for (const { id, state, requestedAt, requestedBy } of items) {
      out.line([requestedAt, id, state, ...(requestedBy === null ? [] : [requestedBy])].join('  '));
    }
  if (!json && more) out.note(thereIsMore);
  return ExitCode.Done;
}

/** `pigeonpost erasures show <id>`: shows the result of an erasure at each place. Exit 0, 4 if the ID is unknown. */
async function showErasure(context: Context, { id, json }: { id: string; json: boolean }): Promise<ExitCode> {
  const { out } = context;
  const erasure = await (await clientOf(context)).erasure(id);
  show(out, json, erasure, erasureLines(erasure));
  return ExitCode.Done;
}

/**
 * `pigeonpost erasures export <file>`: writes the keyed hashes of forgotten people for `restore --erasures`. Never
 * overwrites a file. Exit 0, 1 if the file cannot be written.
 */
async function exportErasures(context: Context, { file }: { file: string }): Promise<ExitCode> {
  const { out } = context;
  const list = await (await clientOf(context)).forgotten();
  const text = JSON.stringify(list);
  if (file === '-') {
    out.line(text);
    return ExitCode.Done;
  }
  await writePrivateFile(file, `${text}\n`);
  const { length } = list.erasures;
  out.line(`${counted(length, 'erasure')} written to ${file}, as hashes that only this ledger can match`);
  return ExitCode.Done;
}

/**
 * `pigeonpost erasures lift <id>`: accepts items of the person again. Exit 0, 1 if it cannot be lifted, 4 if the ID is
 * unknown.
 */
async function liftErasure(context: Context, { id, json }: { id: string; json: boolean }): Promise<ExitCode> {
  const { out } = context;
  await (await clientOf(context)).liftErasure(id);
  out.line(json ? JSON.stringify({ done: true, id }) : 'erasure lifted: new items of this person are stored again');
  return ExitCode.Done;
}

const outcomes: Readonly<Record<WholeErasureView['receipts'][number]['outcome'], string>> = {
  erased: 'erased',
  told: 'asked to erase',
  nothing: 'had nothing',
  waiting: 'has not answered yet',
  'by-hand': 'must be erased by hand',
};

/** Formats what an erasure would remove. Pure. */
export function planLines({ people, items, importRows, sinks, sharing }: ErasurePlanView): string[] {
  if (people.length === 0) return ['this person was already forgotten; nothing is stored'];
  const places = people.map(({ workspace, pigeonholeId, attendees, codes }) => {
    return `${workspace}/${pigeonholeId}: ${attendees} attendees, ${codes} codes`;
  });
  const counts = Object.entries(items).map(([list, count]) => `${count} ${list}`);
  return [
    ...places,
    `items: ${counts.length === 0 ? 'none' : counts.join(', ')} (anonymous items are erased as well, but not counted)`,
    `rows of imports: ${importRows}`,
    `sinks that received them: ${sinks.length === 0 ? 'none' : sinks.join(', ')}`,
    ...(sharing === 0 ? [] : [`other people with the same e-mail address, who are kept: ${sharing}`]),
  ];
}

/** Formats the result of an erasure at each place, and at the end the work that a person must do by hand. Pure. */
export function erasureLines({ id, state, receipts }: WholeErasureView): string[] {
  const lines = receipts.map(({ place, count, outcome, detail }) => {
    const why = detail === null ? '' : ` (${detail})`;
    return `${place}: ${count}, ${outcomes[outcome]}${why}`;
  });
  const todo = receipts.flatMap(({ place, todo: text }) => (text === null ? [] : [`${place}: ${text}`]));
  return [
    state === 'done' ? `erasure ${id} is done` : `erasure ${id} continues: see "pigeonpost erasures show ${id}"`,
    ...lines,
    ...(todo.length === 0 ? [] : ['to do by hand:', ...todo.map((text) => `  ${text}`)]),
  ];
}

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
