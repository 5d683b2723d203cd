import type { Command } from 'commander';
import { exampleText, type Run, type Context } from '../command.js';
import type { Why, WhyRevision, WhySink } from '../../api/why.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf } from '../api-client.js';
import { parseItem } from '../parse-names.js';
import { printLine } from '../output.js';

export function addWhy(program: Command, run: Run): void {
  program
    .command('why <list:key>')
    .description('Explain an item: where it was read, what each sink received and answered, or why nothing was sent')
    .option('--pigeonhole <id>', 'ID or WORKSPACE/ID, if several pigeonholes have that key')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('why question:9001'))
    .action((item: string, options: { pigeonhole?: string; json: boolean }) =>
      run((context) => why(context, { item, ...options })),
    );
}

/**
 * `pigeonpost why <list>:<key>`: shows where an item was read, what each sink received and answered, or why nothing was
 * sent. Shows no text of the item. Exit 0, 2 if several pigeonholes have this key, 4 if none has.
 */
export async function why(
  context: Context,
  { item, pigeonhole, json }: { item: string; pigeonhole?: string | undefined; json: boolean },
): Promise<ExitCode> {
  const { shownWord } = await import('../../operations/command-input.js');
  const { out } = context;
  const { list, key } = await parseItem(item);
  const found = await (
    await clientOf(context)
  ).why({
    list,
    key,
    ...(pigeonhole === undefined ? {} : { pigeonhole }),
  });
  const [first, ...others] = found;
  if (first === undefined) {
    const where = pigeonhole === undefined ? '' : ` in pigeonhole ${shownWord(pigeonhole)}`;
    throw new CommandError(
      ExitCode.NotFound,
      `${list}:${shownWord(key)} was never read${where}: check the list and the key`,
    );
  }
  if (others.length > 0) {
    const places = found.map((each) => `${each.workspace}/${each.pigeonholeId}`).join(', ');
    throw new CommandError(
      ExitCode.WrongUse,
      `${list}:${key} is in several pigeonholes: add --pigeonhole, one of ${places}`,
    );
  }
  if (json) out.line(JSON.stringify(first));
  else for (const line of timeline(first)) printLine(out, line);
  return ExitCode.Done;
}

/** Formats the timeline of an item, oldest first. Pure. */
export function timeline(item: Why): string[] {
  const { list, key, workspace, pigeonholeId, sessionId, revision, deleted, visibility, consent } = item;
  const where = `pigeonhole ${workspace}/${pigeonholeId}${sessionId === null ? '' : `, session ${sessionId}`}`;
  const state = [
    `revision ${revision}`,
    deleted ? 'deleted' : 'present',
    ...(visibility === null ? [] : [visibility === 'named' ? 'named' : `anonymous (${visibility})`]),
    ...(consent === null ? [] : [`consent ${consent}`]),
  ].join(', ');
  return [
    `${list}:${key}  ${where}`,
    `  ${state}`,
    ...item.revisions.flatMap(revisionLines),
    ...(item.missingSince === null
      ? []
      : [`${item.missingSince}  missing from the list; a second check will confirm or reject the deletion`]),
    `stream read ${item.polledAt ?? 'never'}, swept ${item.sweptAt ?? 'never'}`,
    ...(item.failure === null ? [] : [`stream failing: ${item.failure}`]),
  ];
}

function revisionLines({ revision, kind, foundAt, readAs, requestId, visibility, sinks }: WhyRevision): string[] {
  const source = readAs === null ? 'derived from another change' : `read by ${readAs}`;
  const id = requestId === null ? '' : `, request ${requestId}`;
  const shown = visibility === null ? '' : `, ${visibility}`;
  return [`${foundAt}  revision ${revision} ${kind}, ${source}${id}${shown}`, ...sinks.map(sinkLine)];
}

function sinkLine(entry: WhySink): string {
  const { sink, state, outcome, reason, words, detail, attempts, at, dueAt, identity, configuration, replay } = entry;
  const why = words === null ? '' : `: ${words}${words === reason ? '' : ` (${reason})`}`;
  const parts = [
    `${outcome}${why}`,
    ...(detail === null ? [] : [detail]),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(dueAt === null ? [] : [`due ${dueAt}`]),
    ...(state === 'delivered' && identity === false ? ['anonymous'] : []),
    ...(configuration === null ? [] : [`configuration ${configuration}`]),
    ...(replay === null ? [] : [`replay ${replay}`]),
  ];
  return `  ${at ?? '-'.padEnd(24)}  ${sink}: ${parts.join('; ')}`;
}
