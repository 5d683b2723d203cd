import type { Command } from 'commander';
import { exampleText, type Run, type Context, confirm } from '../command.js';
import type { DeadLetterChoice, DeadLetterGroupView } from '../../api/dead-letters.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf } from '../api-client.js';
import { counted, grouped, formatDistance } from '../../base/words.js';
import { parseItem } from '../parse-names.js';

export function addDeadLetters(program: Command, run: Run): void {
  const letters = program
    .command('dead-letters')
    .description('List and redrive changes that a destination rejected or whose mapping failed');
  const filtered = (command: Command): Command =>
    command
      .option('--sink <name>', 'only this sink')
      .option('--cause <cause>', 'only this cause, as "list" shows it')
      .option('--item <list:key>', 'only this item')
      .option('--json', 'print one JSON document', false);
  filtered(letters.command('list').description('Count dead letters by sink, cause and list'))
    .addHelpText('after', exampleText('dead-letters list --sink crm'))
    .action((options: DeadLetterArguments) => run((context) => listDeadLetters(context, options)));
  filtered(letters.command('show').description('Show dead letters one by one, oldest first'))
    .addHelpText('after', exampleText('dead-letters show --cause "http:422"'))
    .action((options: DeadLetterArguments) => run((context) => showDeadLetters(context, options)));
  filtered(letters.command('redrive').description('Send dead letters again after the cause is fixed'))
    .option('--yes', 'skip the confirmation', false)
    .addHelpText('after', exampleText('dead-letters redrive --sink crm --cause "http:422"'))
    .action((options: DeadLetterArguments & { readonly yes: boolean }) =>
      run((context) => redriveDeadLetters(context, options)),
    );
}

interface DeadLetterArguments {
  readonly sink?: string | undefined;
  readonly cause?: string | undefined;
  /** `list:key` of one item. */
  readonly item?: string | undefined;
  readonly json: boolean;
}

/** `pigeonpost dead-letters list`: counts dead letters by sink and cause. Exit 0 if there are none, 5 if there are. */
async function listDeadLetters(context: Context, asked: DeadLetterArguments): Promise<ExitCode> {
  const { out } = context;
  const { groups } = await (await clientOf(context)).deadLetters(await choiceOf(asked));
  if (asked.json) out.line(JSON.stringify({ groups }));
  else if (groups.length === 0) out.line('no dead letters');
  else for (const group of groups) for (const line of linesOf(group)) out.line(line);
  return groups.length === 0 ? ExitCode.Done : ExitCode.DoneWithRejects;
}

/** `pigeonpost dead-letters show`: lists dead letters, oldest first. Exit codes as for `list`. */
async function showDeadLetters(context: Context, asked: DeadLetterArguments): Promise<ExitCode> {
  const { out } = context;
  const found = await (await clientOf(context)).deadLetterItems(await choiceOf(asked));
  if (asked.json) out.line(JSON.stringify(found));
  else {
    for (const each of found.items) {
      const place = `${each.workspace}/${each.pigeonholeId} ${each.list}:${each.key} revision ${each.revision}`;
      out.line(`${each.sink}  ${place}  ${each.cause}  ${each.detail ?? ''}`.trimEnd());
    }
    if (found.more) out.note(`only the oldest ${grouped(found.items.length)} are shown`);
    if (found.items.length === 0) out.line('no dead letters');
  }
  return found.items.length === 0 ? ExitCode.Done : ExitCode.DoneWithRejects;
}

/**
 * `pigeonpost dead-letters redrive`: sends dead letters of a sink again, after a confirmation or with `--yes`. Exit 0,
 * 1 if the operator declines, 4 if there are none.
 */
async function redriveDeadLetters(
  context: Context,
  { yes, ...asked }: DeadLetterArguments & { readonly yes: boolean },
): Promise<ExitCode> {
  const { out } = context;
  if (asked.sink === undefined)
    throw new CommandError(ExitCode.WrongUse, 'name the sink whose dead letters to send again: add --sink NAME');
  const client = await clientOf(context);
  const choice = await choiceOf(asked);
  const { groups } = await client.deadLetters(choice);
  const changes = groups.reduce((sum, group) => sum + group.changes, 0);
  if (changes === 0) throw new CommandError(ExitCode.NotFound, `sink ${asked.sink} has no matching dead letters`);
  if (!yes) {
    for (const group of groups) for (const line of linesOf(group)) out.note(line);
    if (!(await confirm(`Send ${counted(changes, 'change')} to ${asked.sink} again?`))) {
      out.note('nothing was sent');
      return ExitCode.Failed;
    }
  }
  const done = await client.redriveDeadLetters(choice);
  if (asked.json) out.line(JSON.stringify({ done: true, changes: done.changes }));
  else out.line(`${counted(done.changes, 'change')} queued again`);
  return ExitCode.Done;
}

async function choiceOf({ sink, cause, item }: DeadLetterArguments): Promise<DeadLetterChoice> {
  return {
    ...(sink === undefined ? {} : { sink }),
    ...(cause === undefined ? {} : { cause }),
    ...(item === undefined ? {} : await parseItem(item)),
  };
}

function linesOf({ sink, cause, list, changes, newest, detail }: DeadLetterGroupView): string[] {
  const when = formatDistance(new Date(newest), new Date());
  return [
    `${sink}  ${grouped(changes)} of ${list}: ${cause} (last ${when})`,
    ...(detail === null ? [] : [`  ${detail}`]),
  ];
}
