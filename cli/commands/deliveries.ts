import type { AttemptView, FullAttemptView } from '../../api/deliveries.js';
import { nameInWords } from '../../base/item-titles.js';
import { listNames } from '../../base/lists.js';
import { counted } from '../../base/words.js';
import { clientOf } from '../api-client.js';
import {
  type CliCommand,
  type Context,
  type JsonOption,
  parseItem,
  parseList,
  personalHelp,
  wholeNumber,
} from '../command.js';
import { ExitCode, wrongUse } from '../exit-code.js';
import { printLine } from '../output.js';
import { shownInLine } from '../text-line.js';

export function addDeliveries(program: CliCommand): void {
  program
    .command('deliveries [sink]')
    .description('List the attempts of a sink, the newest first, or show what was sent and answered in one of them')
    .option('--failed', 'only attempts that failed', false)
    .option('--cause <cause>', 'only this cause, as the list shows it')
    .option('--list <list>', 'only this list')
    .option('--item <list:key>', 'only this item')
    .option('--pigeonhole <workspace/id>', 'only this pigeonhole')
    .option('--since <time>', 'only since a time such as 2026-11-21, 2026-11-21T09:30Z or 2h (2 hours ago)')
    .option('--limit <n>', 'number of attempts', wholeNumber(500), 50)
    .option('--attempt <number>', 'show this attempt in full', wholeNumber(Number.MAX_SAFE_INTEGER))
    .option('--personal', personalHelp, false)
    .json()
    .examples('deliveries crm --failed --since 2h', 'deliveries --attempt 4711 --personal')
    .runs(deliveries);
}

interface DeliveriesOptions extends JsonOption {
  readonly failed: boolean;
  readonly cause?: string | undefined;
  readonly list?: string | undefined;
  readonly item?: string | undefined;
  readonly pigeonhole?: string | undefined;
  readonly since?: string | undefined;
  readonly limit: number;
  readonly attempt?: number | undefined;
  readonly personal: boolean;
}

/** `pigeonpost deliveries <sink>`: lists the attempts of a sink. Exit 0, 4 if there are none. */
async function deliveries(context: Context, sink: string | undefined, options: DeliveriesOptions): Promise<ExitCode> {
  const { out } = context;
  const personal = options.personal ? ('1' as const) : undefined;
  if (options.attempt !== undefined) {
    const params = { number: String(options.attempt) };
    const found = await (await clientOf(context)).get('/api/attempts/{number}', { params, query: { personal } });
    if (options.json) out.line(JSON.stringify(found));
    else for (const line of attemptLines(found)) printLine(out, line);
    return ExitCode.Done;
  }
  if (sink === undefined) throw wrongUse('name the sink, or an attempt with --attempt NUMBER');
  const query = { ...(await choiceOf(options)), sink: sink.replace(/^sink:/, ''), limit: options.limit, personal };
  const found = await (await clientOf(context)).get('/api/attempts', { query });
  if (options.json) out.line(JSON.stringify(found));
  else for (const attempt of found.items) printLine(out, attemptLine(attempt));
  if (found.items.length === 0) {
    out.note('the log has no such attempt: it keeps every failed attempt, and of those that succeeded the last');
    return ExitCode.NotFound;
  }
  if (!options.json) {
    if (found.next !== null) out.note(`these are the newest ${counted(found.items.length, 'attempt')}: add --limit N`);
    out.note('what was sent and answered: pigeonpost deliveries --attempt NUMBER --personal');
  }
  return ExitCode.Done;
}

async function choiceOf({ failed, cause, list, item, pigeonhole, since }: DeliveriesOptions) {
  const { instantNamed } = await import('../../operations/command-input.js');
  const at = since === undefined ? undefined : instantNamed(since, new Date());
  if (since !== undefined && at === undefined) {
    throw wrongUse(
      `--since is "${since}": give a day (2026-11-21), an instant (2026-11-21T09:30Z) or a duration before now (2h)`,
    );
  }
  const place = pigeonhole?.replace(/^pigeonhole:/, '');
  if (place !== undefined && !/^[^/]+\/\d+$/.test(place)) {
    throw wrongUse(`--pigeonhole is "${pigeonhole}": give WORKSPACE/ID; for the workspace lists, use ID 0`);
  }
  const named = item === undefined ? undefined : await parseItem(item);
  const wanted = named?.list ?? list;
  return {
    ...(failed ? { outcome: 'failed' as const } : {}),
    cause,
    key: named?.key,
    list: wanted === undefined ? undefined : await parseList(wanted, listNames),
    pigeonhole: place,
    since: at?.toISOString(),
  };
}

/** Formats an attempt as one line: its number, time, outcome, item, and what the destination answered. Pure. */
export function attemptLine(attempt: AttemptView): string {
  const { number, at, outcome, list, key, name, workspace, pigeonholeId } = attempt;
  const item = `${shownInLine(nameInWords(name))} (${list}:${shownInLine(key)} in ${workspace}/${pigeonholeId})`;
  return [`#${number}`, at, outcome, item, ...facts(attempt)].join('  ');
}

function facts(attempt: AttemptView): string[] {
  const { durationMs, cause, status, requestId } = attempt;
  return [
    `try ${attempt.try}`,
    ...(status === null ? [] : [`HTTP ${status}`]),
    ...(cause === null || cause === `http-${status}` ? [] : [shownInLine(cause)]),
    `${durationMs} ms`,
    ...(requestId === null ? [] : [`request ${requestId}`]),
  ];
}

/** Formats an attempt in full: its line, what became of it, each request and each answer. Pure. */
export function attemptLines(attempt: FullAttemptView): string[] {
  const { sink, detail, state, content, hasContent } = attempt;
  const head = [attemptLine(attempt), `sink ${sink}; the delivery is now ${state ?? 'no longer stored'}`];
  if (detail !== null) head.push(shownInLine(detail));
  if (content === undefined) {
    return [...head, hasContent ? 'add --personal to see what was sent and answered' : notStored];
  }
  if (content === null) return [...head, notStored];
  return [
    ...head,
    ...content.requests.flatMap(({ method, address, body, cut }) => [
      '',
      `> ${method} ${shownInLine(address)}`,
      ...bodyLines('>', body, cut),
    ]),
    ...content.calls.flatMap(({ method, address, status, requestId, durationMs, answer, shared }) => [
      '',
      `< ${status === null ? 'no answer' : `HTTP ${status}`}  ${method} ${shownInLine(address)}  ${durationMs} ms${
        requestId === null ? '' : `  request ${requestId}`
      }${shared ? '  carried other changes too' : ''}`,
      ...bodyLines('<', answer?.body ?? null, answer?.cut ?? false),
    ]),
    ...(content.furtherCalls === 0 ? [] : [`and ${counted(content.furtherCalls, 'more call')}`]),
  ];
}

const notStored = 'what was sent and answered is not stored';

function bodyLines(mark: string, body: string | null, cut: boolean): string[] {
  if (body === null || body === '') return [];
  return body
    .split('\n')
    .map((line) => `${mark}   ${shownInLine(line)}`)
    .concat(cut ? [`${mark}   …`] : []);
}
