import { serverEvents } from '../../base/api-client.js';
import { serviceLists } from '../../base/lists.js';
import {
  type CliCommand,
  personalHelp,
  type Context,
  type JsonOption,
  wholeNumber,
  parseList,
  parseFullPigeonhole,
} from '../command.js';
import type { LiveChanges, LiveDeliveries } from '../../api/live-changes.js';
import { ExitCode, CommandError } from '../exit-code.js';
import { instanceOf, type ApiClient } from '../api-client.js';
import type { Output } from '../output.js';
import { renderLine, span, type TextLine } from '../text-line.js';
import { changeSentence, changeWords } from '../../base/change-words.js';
import {
  type DeliveryNews,
  type LiveLine,
  nameOfChange,
  sinksInWords,
  sinksOf,
  withChanges,
  withDeliveries,
} from '../../base/live-lines.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { counted } from '../../base/words.js';

export function addLive(program: CliCommand): void {
  program
    .command('live')
    .description('Print changes as pigeonpost finds them, until Ctrl-C')
    .option('--list <list>', 'only this list')
    .option('--pigeonhole <workspace/id>', 'only this pigeonhole')
    .option('--recent <n>', 'number of earlier changes to start with', wholeNumber(500, 0), 10)
    .option('--personal', personalHelp, false)
    .json('print one JSON document per line for each change')
    .examples('live --list qna-questions --pigeonhole acme/101')
    .runs(live);
}

interface LiveOptions extends JsonOption {
  readonly list?: string | undefined;
  readonly pigeonhole?: string | undefined;
  readonly recent: number;
  readonly personal: boolean;
}

/**
 * `pigeonpost live`: prints changes as they are found, and what the sinks have of them, until Ctrl-C. With `json`, one
 * document per line for each change.
 */
async function live(context: Context, { list, pigeonhole, recent, personal, json }: LiveOptions): Promise<ExitCode> {
  const { out } = context;
  const { client, config } = await instanceOf(context);
  const place = pigeonhole === undefined ? undefined : await parseFullPigeonhole(pigeonhole, config?.workspaces);
  const query = {
    ...(list === undefined ? {} : { list: await parseList(list, serviceLists) }),
    ...(place === undefined ? {} : { pigeonhole: `${place.workspace}/${place.id}` }),
    ...(personal ? { personal: '1' } : {}),
  };
  const onLost = (): void => out.note('pigeonpost does not answer; retrying until it does');
  const followed = followChanges(client, { query, recent, onLost });
  const lines = new LiveLines();
  for await (const { changes, skipped, deliveries } of followed) {
    if (json) for (const change of changes) out.line(JSON.stringify(change));
    else for (const line of lines.add(changes, deliveries)) out.line(lineText(line, out));
    if (skipped > 0) out.note(`skipped ${counted(skipped, 'change')}: too many arrived at the same time`);
  }
  throw new Error('the stream of changes never ends');
}

/** Renders a line: on a terminal, cut at its width; for other programs, whole. */
function lineText(
  line: TextLine,
  { terminal, columns, colours }: Pick<Output, 'terminal' | 'columns' | 'colours'>,
): string {
  return renderLine(line, { columns: terminal ? columns : Infinity, colours });
}

type Change = LiveChanges['changes'][number];

/** Number of changes whose twins and deliveries are recognized. */
const maxKept = 500;

/**
 * Turns changes and deliveries into lines of text: one for each change, one for a question that is in both lists, and one
 * when every sink has settled a change or one of them refuses it.
 */
export class LiveLines {
  #lines: readonly LiveLine<Change>[] = [];
  readonly #said = new Map<string, string>();

  add(changes: readonly Change[], deliveries: readonly DeliveryNews[]): TextLine[] {
    const before = new Set(this.#lines.flatMap(({ names }) => names));
    this.#lines = withDeliveries(withChanges(this.#lines, changes, maxKept), deliveries);
    const added = this.#lines.filter(({ names }) => !names.some((name) => before.has(name))).toReversed();
    const named = new Set(deliveries.map(nameOfChange));
    const settled = this.#lines.filter(({ names }) => names.some((name) => named.has(name))).toReversed();
    const kept = new Set(this.#lines.map(({ names }) => names[0]!));
    for (const name of this.#said.keys()) if (!kept.has(name)) this.#said.delete(name);
    return [...added.map(({ change }) => changeLine(change)), ...settled.flatMap((line) => this.#deliveries(line))];
  }

  #deliveries(line: LiveLine<Change>): TextLine[] {
    const sinks = sinksOf(line);
    const isOpen = line.names.some((name) => !line.news.has(name)) || sinks.some(({ state }) => state === 'waits');
    const isRefused = sinks.some(({ state }) => state === 'refused');
    const words = sinksInWords(sinks);
    const [name] = line.names;
    if (words === '' || (isOpen && !isRefused) || this.#said.get(name!) === words) return [];
    this.#said.set(name!, words);
    const says = changeWords(line.change).says ?? changeSentence(changeWords(line.change));
    return [
      [
        span(`${' '.repeat(timeWidth)}→ `, 'dim'),
        span(words, isRefused ? 'red' : sinks.some(({ state }) => state === 'has') ? 'green' : 'dim'),
        span(`  ${says}`, 'dim'),
      ],
    ];
  }
}

/** `2026-11-21 09:30:00  `. */
const timeWidth = 21;

/** Formats a change: when, the sentence, and its ids. Pure. */
export function changeLine(change: Change): TextLine {
  const { workspace, pigeonholeId, list, key, revision, foundAt, kind } = change;
  const words = changeWords(change);
  const sentence = changeSentence({ ...words, says: null });
  return [
    span(`${foundAt.slice(0, 19).replace('T', ' ')}  `, 'dim'),
    span(sentence, kind === 'deleted' ? 'red' : words.says === null ? undefined : 'bold'),
    ...(words.says === null ? [] : [span(`: ${words.says}`)]),
    span(`  ${workspace}/${pigeonholeId} ${list}:${key}${revision > 1 ? ` revision ${revision}` : ''}`, 'dim'),
  ];
}

const againAfterMs = 2000;

interface Following {
  readonly query: Readonly<Record<string, string>>;
  readonly recent: number;
  /** Called once each time the connection is lost. */
  readonly onLost: () => void;
  readonly wait?: (ms: number) => Promise<unknown>;
}

type LiveNews = LiveChanges & LiveDeliveries;

/**
 * Yields changes and deliveries as pigeonpost finds them and never ends. After a lost connection it continues without a gap or a
 * repeat.
 * @throws {CommandError} if the API rejects the request, or does not answer the first one
 */
export async function* followChanges(
  api: Pick<ApiClient, 'liveChanges'>,
  { query, recent, onLost, wait = sleep }: Following,
): AsyncGenerator<LiveNews> {
  let after: string | undefined;
  let isLost = false;
  for (let isFirst = true; ; isFirst = false) {
    const position: Readonly<Record<string, string>> = after === undefined ? { recent: String(recent) } : { after };
    try {
      const body = await api.liveChanges({ ...query, ...position });
      isLost = false;
      for await (const { event, id, data } of serverEvents(body)) {
        after = id ?? after;
        if (event === 'changes') yield { ...(JSON.parse(data) as LiveChanges), deliveries: [] };
        if (event === 'deliveries') yield { changes: [], skipped: 0, ...(JSON.parse(data) as LiveDeliveries) };
      }
    } catch (error) {
      // A lost connection throws an error that is not a CommandError.
      if (error instanceof CommandError && (isFirst || error.exitCode !== ExitCode.Unreachable)) throw error;
    }
    if (!isLost) onLost();
    isLost = true;
    await wait(againAfterMs);
  }
}
