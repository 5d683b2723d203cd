import { listNames } from '../../base/lists.js';
import {
  type CliCommand,
  reasonHelp,
  type Context,
  type JsonOption,
  operatorName,
  parseList,
  confirm,
  parseItem,
  personalHelp,
} from '../command.js';
import { shownInLine } from '../text-line.js';
import { nameInWords } from '../../base/item-titles.js';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplayCount, ReplayRequest } from '../../operations/start-replay.js';
import { ExitCode, wrongUse, CommandError } from '../exit-code.js';
import { type ApiClient, clientOf } from '../api-client.js';
import { unsentWords } from '../../sinks/reason-words.js';
import { grouped, counted, formatDistance } from '../../base/words.js';
import { printResult } from '../output.js';
import { changeName, judgeRedrive, openChanges, type RedriveOutcome } from '../../base/judge-redrive.js';
import type { DeadLetterChoice, DeadLetterGroupView, DeadLetterView } from '../../api/dead-letters.js';

export function addReplay(program: CliCommand): void {
  program
    .command('replay [sink]')
    .description('Send stored items again, each in its latest revision, marked as a replay')
    .option('--all', 'every sink', false)
    .option('--list <list...>', 'only these lists')
    .option('--pigeonhole <workspace/id>', 'only this pigeonhole')
    .option(
      '--from <time>',
      'only items changed since a time such as 2026-11-21, 2026-11-21T09:30Z or 2h (2 hours ago)',
    )
    .option('--dry-run', 'show the number of items without sending anything', false)
    .option('--reason <text>', reasonHelp)
    .json()
    .examples('replay hooks --list questions votes --from 2h --dry-run')
    .runs(replay);
}

interface ReplayOptions extends JsonOption {
  readonly all: boolean;
  readonly list?: readonly string[] | undefined;
  readonly pigeonhole?: string | undefined;
  readonly from?: string | undefined;
  readonly dryRun: boolean;
  readonly reason?: string | undefined;
}

/**
 * `pigeonpost replay <sink>` or `--all`: starts sending stored items again, marked as a replay; `status` shows the
 * progress. Exit 0, 4 if the sink or the pigeonhole is unknown.
 */
async function replay(context: Context, sink: string | undefined, options: ReplayOptions): Promise<ExitCode> {
  const wanted = await requestOf(sink, options);
  const result = await (await clientOf(context)).post('/api/replays', { json: wanted });
  const items = grouped(result.counts.reduce((sum, count) => sum + count.items, 0));
  return printResult(context.out, options.json, result, [
    ...result.counts.map(countLine),
    result.dryRun ? `${items} to send; nothing was sent` : `replay ${result.id} has started: ${items} to send`,
  ]);
}

/** @param named a sink's name, with or without `sink:` */
async function requestOf(
  named: string | undefined,
  { all, list: words = [], pigeonhole, from, dryRun, reason }: ReplayOptions,
): Promise<ReplayRequest> {
  const { instantNamed, listNamed } = await import('../../operations/command-input.js');
  // Every word after `--list` is one of its values, so a sink at the end of the line is one as well.
  const isLast = named === undefined && !all && words.length > 1 && 'problem' in listNamed(words.at(-1)!, listNames);
  const sink = isLast ? words.at(-1) : named;
  const lists = isLast ? words.slice(0, -1) : words;
  if ((sink === undefined) !== all) {
    throw wrongUse('give the name of a sink, or --all for every sink');
  }
  const place = pigeonhole?.replace(/^pigeonhole:/, '');
  if (place !== undefined && !/^[^/]+\/\d+$/.test(place)) {
    throw wrongUse(`--pigeonhole is "${pigeonhole}": give WORKSPACE/ID; for the workspace lists, use ID 0`);
  }
  const at = from === undefined ? undefined : instantNamed(from, new Date());
  if (from !== undefined && at === undefined) {
    throw wrongUse(
      `--from is "${from}": give a day (2026-11-21), an instant (2026-11-21T09:30Z) or a duration before now (2h)`,
    );
  }
  return {
    id: randomUUID(),
    sink: sink?.replace(/^sink:/, '') ?? null,
    lists: lists.length === 0 ? null : await Promise.all(lists.map((name) => parseList(name, listNames))),
    pigeonhole: place ?? null,
    from: at?.toISOString() ?? null,
    dryRun,
    by: operatorName(),
    reason,
  };
}

function countLine({ sink, list, items, estimated, ...unsent }: ReplayCount): string {
  return `${sink} ${list}: ${[`${estimated ? 'about ' : ''}${grouped(items)}`, ...unsentWords(unsent)].join(', ')}`;
}

export function addDeadLetters(program: CliCommand): void {
  const letters = program
    .command('dead-letters')
    .description('List and redrive changes that a destination rejected or whose mapping failed');
  const filtered = (command: CliCommand): CliCommand =>
    command
      .option('--sink <name>', 'only this sink')
      .option('--cause <cause>', 'only this cause, as "list" shows it')
      .option('--item <list:key>', 'only this item')
      .json();
  filtered(letters.command('list').description('Count dead letters by sink, cause and list'))
    .examples('dead-letters list --sink crm')
    .runs(listDeadLetters);
  filtered(letters.command('show').description('Show dead letters one by one, oldest first'))
    .option('--personal', personalHelp, false)
    .examples('dead-letters show --cause "http:422"')
    .runs(showDeadLetters);
  filtered(letters.command('redrive').description('Send dead letters again after the cause is fixed'))
    .option('--yes', 'skip the confirmation', false)
    .examples('dead-letters redrive --sink crm --cause "http:422"')
    .runs(redriveDeadLetters);
}

interface DeadLetterArguments extends JsonOption {
  readonly sink?: string | undefined;
  readonly cause?: string | undefined;
  /** `list:key` of one item. */
  readonly item?: string | undefined;
}

/** `pigeonpost dead-letters list`: counts dead letters by sink and cause. Exit 0 if there are none, 5 if there are. */
async function listDeadLetters(context: Context, asked: DeadLetterArguments): Promise<ExitCode> {
  const query = await choiceOf(asked);
  const { groups } = await (await clientOf(context)).get('/api/dead-letters', { query });
  printResult(context.out, asked.json, { groups }, groups.length === 0 ? 'no dead letters' : groups.flatMap(linesOf));
  return groups.length === 0 ? ExitCode.Done : ExitCode.DoneWithRejects;
}

/** `pigeonpost dead-letters show`: lists dead letters, oldest first. Exit codes as for `list`. */
async function showDeadLetters(
  context: Context,
  asked: DeadLetterArguments & { readonly personal: boolean },
): Promise<ExitCode> {
  const { out } = context;
  const { personal } = asked;
  const query = { ...(await choiceOf(asked)), personal: personal ? ('1' as const) : undefined };
  const found = await (await clientOf(context)).get('/api/dead-letters/items', { query });
  const lines = found.items.map(({ workspace, pigeonholeId, list, key, revision, sink, cause, detail, name }) =>
    `${sink}  ${shownInLine(nameInWords(name))}  ${workspace}/${pigeonholeId} ${list}:${key} revision ${revision}  ${cause}  ${detail ?? ''}`.trimEnd(),
  );
  printResult(out, asked.json, found, lines.length === 0 ? 'no dead letters' : lines);
  if (!asked.json && found.more) out.note(`only the oldest ${grouped(found.items.length)} are shown`);
  return found.items.length === 0 ? ExitCode.Done : ExitCode.DoneWithRejects;
}

/**
 * `pigeonpost dead-letters redrive`: sends dead letters of a sink again, after a confirmation or with `--yes`, and waits
 * a few seconds for the outcomes. Exit 0, 1 if the operator declines, 4 if there are none, 5 if some are refused again.
 */
async function redriveDeadLetters(
  context: Context,
  { yes, ...asked }: DeadLetterArguments & { readonly yes: boolean },
): Promise<ExitCode> {
  const { out } = context;
  if (asked.sink === undefined) throw wrongUse('name the sink whose dead letters to send again: add --sink NAME');
  const client = await clientOf(context);
  const choice = await choiceOf(asked);
  const { groups } = await client.get('/api/dead-letters', { query: choice });
  const changes = groups.reduce((sum, group) => sum + group.changes, 0);
  if (changes === 0) throw new CommandError(ExitCode.NotFound, `sink ${asked.sink} has no matching dead letters`);
  if (!yes) {
    for (const line of groups.flatMap(linesOf)) out.note(line);
    const question = `Send ${counted(changes, 'change')} to ${asked.sink} again?`;
    if (!(await confirm(out, question, 'nothing was sent'))) return ExitCode.Failed;
  }
  const { items: shown } = await client.get('/api/dead-letters/items', { query: choice });
  const { changes: redriven } = await client.post('/api/dead-letters/redrive', { json: choice });
  if (!asked.json) out.note(`${counted(redriven, 'change')} queued again`);
  const lists = [...new Set(groups.map(({ list }) => list))];
  const { refused, ...outcome } = await outcomeOf(client, asked.sink, { changes: redriven, shown, lists });
  printResult(out, asked.json, { done: true, changes: redriven, ...outcome }, outcomeLines(outcome, refused));
  return outcome.refusedAgain > 0 ? ExitCode.DoneWithRejects : ExitCode.Done;
}

interface Redriven {
  readonly changes: number;
  /** The redriven dead letters, as far as the API lists them. */
  readonly shown: readonly DeadLetterView[];
  readonly lists: readonly string[];
}

/** Number of times that a redrive asks for the outcomes, and the wait before each. */
const askedTimes = 20;
const askedEveryMs = 500;

/** Waits until the redriven changes are settled, at most 10 s. `refused`: the changes that were refused again. */
async function outcomeOf(
  client: ApiClient,
  sink: string,
  { lists, ...redriven }: Redriven,
): Promise<RedriveOutcome & { readonly refused: readonly DeadLetterView[] }> {
  const own = new Set(redriven.shown.map(changeName));
  for (let left = askedTimes; ; left -= 1) {
    await sleep(askedEveryMs);
    // The outcomes first: a change that settles between the two requests is then shown as in progress or refused.
    const { outcomes } = await client.get('/api/sinks/{name}/outcomes', { params: { name: sink } });
    const { items } = await client.get('/api/dead-letters/items', { query: { sink } });
    const outcome = judgeRedrive(redriven, items, openChanges(outcomes, lists));
    if (outcome.onTheWay > 0 && left > 1) continue;
    return { ...outcome, refused: items.filter((each) => own.has(changeName(each))) };
  }
}

/** Says what became of redriven changes. Each answer of the destination is shown once. */
function outcomeLines(
  { settled, refusedAgain, onTheWay }: RedriveOutcome,
  refused: readonly Pick<DeadLetterView, 'cause' | 'detail'>[],
): string[] {
  const answers = new Set(refused.map(({ cause, detail }) => `  ${cause}${detail === null ? '' : `: ${detail}`}`));
  return [
    ...(settled > 0 ? [`${counted(settled, 'change')} settled`] : []),
    ...(refusedAgain > 0 ? [`${counted(refusedAgain, 'change')} refused again`, ...answers] : []),
    ...(onTheWay > 0 ? [`${counted(onTheWay, 'change')} in progress: see pigeonpost status`] : []),
  ];
}

async function choiceOf({ sink, cause, item }: DeadLetterArguments): Promise<DeadLetterChoice> {
  return { sink, cause, ...(item === undefined ? {} : await parseItem(item)) };
}

function linesOf({ sink, cause, list, changes, newest, detail }: DeadLetterGroupView): string[] {
  const when = formatDistance(new Date(newest), new Date());
  return [
    `${sink}  ${grouped(changes)} of ${list}: ${cause} (last ${when})`,
    ...(detail === null ? [] : [`  ${detail}`]),
  ];
}
