import type { Command } from 'commander';
import { listNames } from '../../base/list-names.js';
import { exampleText, reasonHelp, type Run, type Context, operatorName } from '../command.js';
import { randomUUID } from 'node:crypto';
import type { ReplayCount, ReplayRequest } from '../../operations/start-replay.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf } from '../api-client.js';
import { withheldWords } from '../../base/delivery-words.js';
import { grouped } from '../../base/words.js';
import { parseList } from '../parse-names.js';

export function addReplay(program: Command, run: Run): void {
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
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('replay hooks --list questions votes --from 2h --dry-run'))
    .action((sink: string | undefined, options: Omit<ReplayOptions, 'sink'>) =>
      run((context) => replay(context, { sink, ...options })),
    );
}

interface ReplayOptions {
  /** A sink's name, with or without `sink:`. */
  readonly sink?: string | undefined;
  readonly all: boolean;
  readonly list?: readonly string[] | undefined;
  readonly pigeonhole?: string | undefined;
  readonly from?: string | undefined;
  readonly dryRun: boolean;
  readonly reason?: string | undefined;
  readonly json: boolean;
}

/**
 * `pigeonpost replay <sink>` or `--all`: starts sending stored items again, marked as a replay; `status` shows the
 * progress. Exit 0, 4 if the sink or the pigeonhole is unknown.
 */
async function replay(context: Context, options: ReplayOptions): Promise<ExitCode> {
  const { out } = context;
  const wanted = await requestOf(options);
  const result = await (await clientOf(context)).replay(wanted);
  if (options.json) {
    out.line(JSON.stringify(result));
    return ExitCode.Done;
  }
  for (const line of result.counts.flatMap(countLines)) out.line(line);
  const items = result.counts.reduce((sum, count) => sum + count.items, 0);
  if (result.dryRun) out.line(`${grouped(items)} to send; nothing was sent`);
  else out.line(`replay ${result.id} has started: ${grouped(items)} to send`);
  return ExitCode.Done;
}

async function requestOf({ sink, all, list, pigeonhole, from, dryRun, reason }: ReplayOptions): Promise<ReplayRequest> {
  const { instantNamed } = await import('../../operations/command-input.js');
  if ((sink === undefined) !== all) {
    throw new CommandError(ExitCode.WrongUse, 'give the name of a sink, or --all for every sink');
  }
  const place = pigeonhole?.replace(/^pigeonhole:/, '');
  if (place !== undefined && !/^[^/]+\/\d+$/.test(place)) {
    throw new CommandError(
      ExitCode.WrongUse,
      `--pigeonhole is "${pigeonhole}": give WORKSPACE/ID; for the workspace lists, use ID 0`,
    );
  }
  const at = from === undefined ? undefined : instantNamed(from, new Date());
  if (from !== undefined && at === undefined) {
    throw new CommandError(
      ExitCode.WrongUse,
      `--from is "${from}": give a day (2026-11-21), an instant (2026-11-21T09:30Z) or a duration before now (2h)`,
    );
  }
  return {
    id: randomUUID(),
    sink: sink?.replace(/^sink:/, '') ?? null,
    lists: list === undefined ? null : await Promise.all(list.map((name) => parseList(name, listNames))),
    pigeonhole: place ?? null,
    from: at?.toISOString() ?? null,
    dryRun,
    by: operatorName(),
    reason,
  };
}

function countLines({ sink, list, items, withheld }: ReplayCount): string[] {
  return [`${sink} ${list}: ${[grouped(items), ...withheldWords(withheld)].join(', ')}`];
}
