import { erasureOutcomeWords } from '../../base/erasure-words.js';
import { counted, singular } from '../../base/words.js';
import { type CliCommand, wholeNumber, type Context, confirm, type JsonOption, operatorName } from '../command.js';
import { randomUUID } from 'node:crypto';
import type { WholeErasureView, ErasurePlanView } from '../../api/erasures.js';
import { type ApiClient, clientOf, firstOfList } from '../api-client.js';
import { printList, printResult } from '../output.js';
import { ExitCode, wrongUse } from '../exit-code.js';
import { writePrivateFile } from '../files.js';

export function addForget(program: CliCommand): void {
  program
    .command('forget')
    .description('Erase a person from the ledger, imports and files, and from each sink according to its onForget')
    .requiredOption('--attendee <id|code|email>', 'the person; id:42, code:42 or email:… if it is ambiguous')
    .option('--dry-run', 'show the plan without erasing anything', false)
    .option('--yes', 'skip the confirmation', false)
    .option('--reason <text>', 'reason that is stored with the erasure, without personal data')
    .json()
    .examples('forget --attendee maria@example.com --dry-run')
    .runs(forget);
}

export function addErasures(program: CliCommand): void {
  const erasures = program.command('erasures').description('List requests to forget a person, and their results');
  erasures
    .command('list')
    .description('List erasures, newest first; they do not name the person')
    .option('--limit <n>', 'number of erasures', wholeNumber(100_000), 100)
    .json()
    .examples('erasures list --limit 20')
    .runs(listErasures);
  erasures
    .command('show <id>')
    .description('Show the result in each place, and what remains to be done manually')
    .json()
    .examples('erasures show 4f1c1e0a-6d1b-5a57-9d4e-0a8c3f1f6b21')
    .runs(showErasure);
  erasures
    .command('export <file>')
    .description('Write the hashes of forgotten people for "restore --erasures"; "-" is standard output')
    .examples('erasures export /backups/erasures-2026-11-21.json')
    .runs(exportErasures);
  erasures
    .command('lift <id>')
    .description('Accept items of the person again, if that person requests it')
    .json()
    .examples('erasures lift 4f1c1e0a-6d1b-5a57-9d4e-0a8c3f1f6b21')
    .runs(liftErasure);
}

interface ForgetOptions extends JsonOption {
  /** An id, a code or an e-mail address. */
  readonly attendee: string;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly reason?: string | undefined;
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
    const plan = await client.post('/api/erasures/plan', { json: { attendee: options.attendee } });
    if (options.dryRun) return printResult(out, options.json, plan, planLines(plan));
    if (plan.people.length > 0) {
      for (const line of planLines(plan)) out.note(line);
      const question = 'Forget this person everywhere? This cannot be undone.';
      if (!(await confirm(out, question, 'nothing was erased'))) return ExitCode.Failed;
    }
  }
  const asked = { id: randomUUID(), attendee: options.attendee, by: operatorName(), reason: options.reason };
  const erasure = await untilDone(client, await client.post('/api/erasures', { json: asked }));
  return printResult(out, options.json, erasure, erasureLines(erasure));
}

async function untilDone(client: ApiClient, begun: WholeErasureView): Promise<WholeErasureView> {
  const until = Date.now() + waitMs;
  let erasure = begun;
  while (erasure.state === 'running' && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    erasure = await client.get('/api/erasures/{id}', { params: { id: erasure.id } });
  }
  return erasure;
}

/** `pigeonpost erasures list`: requests to forget a person, newest first. Exit 0, also when there are none. */
async function listErasures(
  context: Context,
  { limit, json }: JsonOption & { readonly limit: number },
): Promise<ExitCode> {
  const client = await clientOf(context);
  const found = await firstOfList(limit, (part) => client.get('/api/erasures', { query: part }));
  const lines = found.items.map(({ id, state, requestedAt, requestedBy }) =>
    [requestedAt, id, state, ...(requestedBy === null ? [] : [requestedBy])].join('  '),
  );
  return printList(context.out, json, found, lines.length === 0 ? 'no erasures' : lines);
}

/** `pigeonpost erasures show <id>`: shows the result of an erasure at each place. Exit 0, 4 if the ID is unknown. */
async function showErasure(context: Context, id: string, { json }: JsonOption): Promise<ExitCode> {
  const erasure = await (await clientOf(context)).get('/api/erasures/{id}', { params: { id } });
  return printResult(context.out, json, erasure, erasureLines(erasure));
}

/**
 * `pigeonpost erasures export <file>`: writes the keyed hashes of forgotten people for `restore --erasures`. Never
 * overwrites a file. Exit 0, 1 if the file cannot be written.
 */
async function exportErasures(context: Context, file: string): Promise<ExitCode> {
  const { out } = context;
  const list = await (await clientOf(context)).get('/api/forgotten', {});
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
async function liftErasure(context: Context, id: string, { json }: JsonOption): Promise<ExitCode> {
  await (await clientOf(context)).post('/api/erasures/{id}/lift', { params: { id }, json: {} });
  const said = 'erasure lifted: new items of this person are stored again';
  return printResult(context.out, json, { done: true, id }, said);
}

/** Formats what an erasure would remove. Pure. */
export function planLines({ people, items, importRows, sinks, sharing }: ErasurePlanView): string[] {
  if (people.length === 0) return ['this person was already forgotten; nothing is stored'];
  const places = people.map(({ workspace, pigeonholeId, attendees, codes }) => {
    return `${workspace}/${pigeonholeId}: ${counted(attendees, 'attendee')}, ${counted(codes, 'code')}`;
  });
  const counts = Object.entries(items).map(([list, count]) => counted(count, singular(list), list));
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
    return `${place}: ${count}, ${erasureOutcomeWords[outcome]}${why}`;
  });
  const todo = receipts.flatMap(({ place, todo: text }) => (text === null ? [] : [`${place}: ${text}`]));
  return [
    state === 'done' ? `erasure ${id} is done` : `erasure ${id} continues: see "pigeonpost erasures show ${id}"`,
    ...lines,
    ...(todo.length === 0 ? [] : ['to do by hand:', ...todo.map((text) => `  ${text}`)]),
  ];
}

export function addPerson(program: CliCommand): void {
  program
    .command('person <id|code|email>')
    .description('Export everything stored about a person, to answer their request')
    .option('--export [file]', 'write the data and where it was sent as JSON, into a new file or to standard output')
    .examples('person maria@example.com --export maria.json')
    .runs(person);
}

/**
 * `pigeonpost person <id> --export [FILE]`: writes everything stored about a person, and where it was sent, as JSON.
 * Only the owner can read the file; an existing file is never overwritten. Exit 0, 4 if the person is unknown.
 * @param attendee an id, a code or an e-mail address
 * @param options.export a file; `true`: standard output; undefined: not requested
 */
async function person(
  context: Context,
  attendee: string,
  { export: target }: { readonly export?: string | true },
): Promise<ExitCode> {
  const { out } = context;
  if (target === undefined) {
    throw wrongUse('add --export to print the data, or --export FILE to write it into a file');
  }
  const stored = await (await clientOf(context)).post('/api/persons/export', { json: { attendee } });
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
