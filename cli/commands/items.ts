import { listNames } from '../../base/lists.js';
import {
  type CliCommand,
  wholeNumber,
  personalHelp,
  type Context,
  type JsonOption,
  parseList,
  parseFullPigeonhole,
  parseItem,
} from '../command.js';
import type { ItemView } from '../../api/items.js';
import { ExitCode, CommandError, wrongUse } from '../exit-code.js';
import { instanceOf, clientOf } from '../api-client.js';
import { printLine } from '../output.js';
import { shownInLine } from '../text-line.js';
import { type ItemName, nameInWords, placeInWords } from '../../base/item-titles.js';
import { findingWords, parityWord } from '../../base/parity-words.js';
import type { Why, WhyRevision, WhySink } from '../../api/why.js';

export function addItems(program: CliCommand): void {
  program
    .command('items <list>')
    .description('List the stored items of one list in a pigeonhole; "why" explains one of them')
    .requiredOption('--pigeonhole <workspace/id>', 'pigeonhole of the list')
    .option('--session <id>', 'only this session')
    .option('--limit <n>', 'number of items', wholeNumber(500), 100)
    .option('--after <position>', 'position at which the previous page ended')
    .option('--personal', personalHelp, false)
    .json()
    .examples('items attendees --pigeonhole acme/101 --limit 20')
    .runs(items);
}

interface ItemsOptions extends JsonOption {
  readonly pigeonhole: string;
  readonly session?: string | undefined;
  readonly limit: number;
  readonly after?: string | undefined;
  readonly personal: boolean;
}

/** `pigeonpost items <list>`: lists the stored items of one list in a pigeonhole, by key. Exit 0, 4 if there are none. */
async function items(
  context: Context,
  list: string,
  { pigeonhole, session, limit, after, personal, json }: ItemsOptions,
): Promise<ExitCode> {
  const { out } = context;
  const { client, config } = await instanceOf(context);
  const place = await parseFullPigeonhole(pigeonhole, config?.workspaces);
  const named = await parseList(list, listNames);
  const found = await client.get('/api/items/{workspace}/{id}/{list}', {
    params: { ...place, list: named },
    query: { session, limit, after, personal: personal ? '1' : undefined },
  });
  if (json) out.line(JSON.stringify(found));
  else for (const item of found.items) printLine(out, itemLine(named, item));
  if (found.items.length === 0) {
    out.note(
      `no items of ${named} are stored for this pigeonhole; "pigeonpost status" shows which lists have been read`,
    );
    return ExitCode.NotFound;
  }
  if (found.next !== null) out.note(`there are more items: add --limit N, or --after ${found.next}`);
  return ExitCode.Done;
}

export function itemLine(list: string, item: ItemView): string {
  const { key, name, sessionId, revision, deleted, visibility, consent, lastChangedAt, data } = item;
  const parts = [
    `revision ${revision}`,
    ...(deleted ? ['deleted'] : []),
    ...(sessionId === null || list === 'sessions' ? [] : [sessionWords(name, sessionId)]),
    ...(visibility === null ? [] : [visibility]),
    ...(consent === null ? [] : [`consent ${consent}`]),
  ];
  const says = data == null ? '' : `: ${JSON.stringify(data)}`;
  return `${lastChangedAt}  ${list}:${key}  ${shownInLine(nameInWords({ ...name, session: null, event: null }))}  ${parts.join(', ')}${says}`;
}

export function addWhy(program: CliCommand): void {
  program
    .command('why <list:key>')
    .description('Explain an item: where it was read, what each sink received and answered, or why nothing was sent')
    .option('--pigeonhole <id>', 'ID or WORKSPACE/ID, if several pigeonholes have that key')
    .json()
    .examples('why question:9001')
    .runs(why);
}

/**
 * `pigeonpost why <list>:<key>`: shows where an item was read, what each sink received and answered, or why nothing was
 * sent. Shows no text of the item. Exit 0, 2 if several pigeonholes have this key, 4 if none has.
 */
export async function why(
  context: Context,
  item: string,
  { pigeonhole, json }: JsonOption & { readonly pigeonhole?: string },
): Promise<ExitCode> {
  const { shownWord } = await import('../../operations/command-input.js');
  const { out } = context;
  const { list, key } = await parseItem(item);
  const client = await clientOf(context);
  const { items } = await client.get('/api/why', { query: { list, key, pigeonhole } });
  const [first, ...others] = items;
  if (first === undefined) {
    const where = pigeonhole === undefined ? '' : ` in pigeonhole ${shownWord(pigeonhole)}`;
    throw new CommandError(
      ExitCode.NotFound,
      `${list}:${shownWord(key)} was never read${where}: check the list and the key`,
    );
  }
  if (others.length > 0) {
    const places = items.map((each) => `${each.workspace}/${each.pigeonholeId}`).join(', ');
    throw wrongUse(`${list}:${key} is in several pigeonholes: add --pigeonhole, one of ${places}`);
  }
  if (json) out.line(JSON.stringify(first));
  else for (const line of timeline(first)) printLine(out, line);
  return ExitCode.Done;
}

/** Returns a session by its title, with its id. */
function sessionWords({ session }: ItemName, sessionId: number): string {
  return session === null ? `session ${sessionId}` : `session “${shownInLine(session)}” (${sessionId})`;
}

/** Formats the timeline of an item, oldest first. Pure. */
export function timeline(item: Why): string[] {
  const { list, key, name, workspace, pigeonholeId, sessionId, revision, deleted, visibility, consent } = item;
  const session = sessionId === null ? '' : `, ${sessionWords(name, sessionId)}`;
  const where = `pigeonhole ${workspace}/${pigeonholeId}${session}`;
  const [title, place] = [nameInWords(name), placeInWords(name)];
  const state = [
    `revision ${revision}`,
    deleted ? 'deleted' : 'present',
    ...(visibility === null ? [] : [visibility === 'named' ? 'named' : `anonymous (${visibility})`]),
    ...(consent === null ? [] : [`consent ${consent}`]),
  ].join(', ');
  return [
    `${list}:${key}  ${where}`,
    `  ${shownInLine(title)}${place === '' ? '' : ` (${shownInLine(place)})`}`,
    `  ${state}`,
    ...(item.twin === null ? [] : [`  ${twinWords(item.twin, key)}`]),
    ...item.audit.map(auditLine),
    ...item.revisions.flatMap(revisionLines),
    ...(item.missingSince === null
      ? []
      : [`${item.missingSince}  missing from the list; a second check will confirm or reject the deletion`]),
    `stream read ${item.polledAt ?? 'never'}, swept ${item.sweptAt ?? 'never'}`,
    ...(item.failure === null ? [] : [`stream failing: ${item.failure}`]),
  ];
}

/** Names the same question in the other list, which a sink may have received instead. */
function twinWords({ list, sinks }: NonNullable<Why['twin']>, key: string): string {
  const received = sinks.length === 0 ? 'which no sink received' : `which ${sinks.join(', ')} received`;
  return `the same question is ${list}:${key}, ${received}`;
}

/** Says that a destination differs from what was delivered. */
function auditLine(finding: Why['audit'][number]): string {
  const { sink, foundAt } = finding;
  return [`  an audit at ${foundAt} found: ${parityWord(finding.class)} in ${sink}`, ...findingWords(finding)].join(
    '; ',
  );
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
