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
import type { LiveChanges } from '../../api/live-changes.js';
import { ExitCode, CommandError } from '../exit-code.js';
import { instanceOf, type ApiClient } from '../api-client.js';
import { printLine } from '../output.js';
import { shownInLine } from '../text-line.js';
import { nameInWords, placeInWords } from '../../base/item-titles.js';
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

/** `pigeonpost live`: prints changes as they are found, until Ctrl-C. With `json`, one document per line. */
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
  for await (const { changes, skipped } of followed) {
    for (const change of changes) {
      if (json) out.line(JSON.stringify(change));
      else printLine(out, changeLine(change));
    }
    if (skipped > 0) out.note(`skipped ${counted(skipped, 'change')}: too many arrived at the same time`);
  }
  throw new Error('the stream of changes never ends');
}

export function changeLine(change: LiveChanges['changes'][number]): string {
  const { workspace, pigeonholeId, name, list, key, kind, revision, visibility, foundAt, data } = change;
  const place = placeInWords(name);
  const parts = [
    ...(name.person === null ? [] : [name.person]),
    ...(place === '' ? [] : [place]),
    `pigeonhole ${workspace}/${pigeonholeId}`,
    `revision ${revision}`,
    ...(visibility === null ? [] : [visibility]),
  ];
  const says = data == null ? '' : `: ${JSON.stringify(data)}`;
  return `${foundAt}  ${kind}  ${shownInLine(nameInWords(name))}  ${list}:${key}  ${shownInLine(parts.join(', '))}${says}`;
}

const againAfterMs = 2000;

interface Following {
  readonly query: Readonly<Record<string, string>>;
  readonly recent: number;
  /** Called once each time the connection is lost. */
  readonly onLost: () => void;
  readonly wait?: (ms: number) => Promise<unknown>;
}

/**
 * Yields changes as pigeonpost finds them and never ends. After a lost connection it continues without a gap or a
 * repeat.
 * @throws {CommandError} if the API rejects the request, or does not answer the first one
 */
export async function* followChanges(
  api: Pick<ApiClient, 'liveChanges'>,
  { query, recent, onLost, wait = sleep }: Following,
): AsyncGenerator<LiveChanges> {
  let after: string | undefined;
  let isLost = false;
  for (let isFirst = true; ; isFirst = false) {
    const position: Readonly<Record<string, string>> = after === undefined ? { recent: String(recent) } : { after };
    try {
      const body = await api.liveChanges({ ...query, ...position });
      isLost = false;
      for await (const { event, id, data } of serverEvents(body)) {
        after = id ?? after;
        if (event === 'changes') yield JSON.parse(data) as LiveChanges;
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
