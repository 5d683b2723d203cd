import type { Command } from 'commander';
import { listNames } from '../../base/list-names.js';
import { exampleText, wholeNumber, personalHelp, type Run, type Context } from '../command.js';
import type { ItemView } from '../../api/items.js';
import { ExitCode } from '../exit-code.js';
import { instanceOf } from '../api-client.js';
import { parseList, parseFullPigeonhole } from '../parse-names.js';
import { printLine } from '../output.js';

export function addItems(program: Command, run: Run): void {
  program
    .command('items <list>')
    .description('List the stored items of one list in a pigeonhole; "why" explains one of them')
    .requiredOption('--pigeonhole <workspace/id>', 'pigeonhole of the list')
    .option('--session <id>', 'only this session')
    .option('--limit <n>', 'number of items', wholeNumber(500), 100)
    .option('--after <position>', 'position at which the previous page ended')
    .option('--personal', personalHelp, false)
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('items attendees --pigeonhole acme/101 --limit 20'))
    .action((list: string, options: Omit<ItemsOptions, 'list'>) =>
      run((context) => items(context, { list, ...options })),
    );
}

interface ItemsOptions {
  readonly list: string;
  readonly pigeonhole: string;
  readonly session?: string | undefined;
  readonly limit: number;
  readonly after?: string | undefined;
  readonly personal: boolean;
  readonly json: boolean;
}

/** `pigeonpost items <list>`: lists the stored items of one list in a pigeonhole, by key. Exit 0, 4 if there are none. */
async function items(
  context: Context,
  { list, pigeonhole, session, limit, after, personal, json }: ItemsOptions,
): Promise<ExitCode> {
  const { out } = context;
  const { client, workspaces } = await instanceOf(context);
  const place = await parseFullPigeonhole(pigeonhole, workspaces);
  const named = await parseList(list, listNames);
  const found = await client.items({ ...place, list: named }, { session, limit, after, personal });
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

/** Formats an item as a line. Pure. */
export function itemLine(list: string, item: ItemView): string {
  const { key, sessionId, revision, deleted, visibility, consent, lastChangedAt, data } = item;
  const parts = [
    `revision ${revision}`,
    ...(deleted ? ['deleted'] : []),
    ...(sessionId === null ? [] : [`session ${sessionId}`]),
    ...(visibility === null ? [] : [visibility]),
    ...(consent === null ? [] : [`consent ${consent}`]),
  ];
  const says = data == null ? '' : `: ${JSON.stringify(data)}`;
  return `${lastChangedAt}  ${list}:${key}  ${parts.join(', ')}${says}`;
}
