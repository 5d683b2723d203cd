import { type CliCommand, type Context, confirm, type JsonOption } from '../command.js';
import type { Decision, HeldDeletions } from '../../api/deletions.js';
import { ExitCode, wrongUse } from '../exit-code.js';
import { type ApiClient, clientOf } from '../api-client.js';
import { printResult } from '../output.js';
import { shownInLine } from '../text-line.js';
import { nameInWords } from '../../base/item-titles.js';
import { counted, grouped } from '../../base/words.js';

export function addDeletions(program: CliCommand): void {
  const deletions = program
    .command('deletions')
    .description('Confirm or reject deletions that are held because unusually many items are missing');
  deletions.command('list').description('List held deletions').json().examples('deletions list').runs(listDeletions);
  deletions
    .command('show <id>')
    .description('Show the exact items of a held deletion')
    .json()
    .examples('deletions show 3')
    .runs(showDeletions);
  const decisions = [
    ['confirm', 'confirmed', 'Confirm that the items are deleted, and notify every sink'],
    ['reject', 'rejected', 'Keep the items as they are'],
  ] as const;
  for (const [verb, decision, description] of decisions) {
    deletions
      .command(`${verb} [id]`)
      .description(description)
      .option('--pigeonhole <workspace/id>', 'all held deletions of this pigeonhole')
      .option('--list <list>', 'all held deletions of this list')
      .option('--all', 'all held deletions', false)
      .option('--yes', 'skip the confirmation', false)
      .json()
      .examples(`deletions ${verb} 3`, `deletions ${verb} --pigeonhole acme/101`, `deletions ${verb} --all`)
      .runs((context, id: string | undefined, options: DecisionOptions) =>
        id === undefined
          ? decideAll(context, decision, options)
          : decideDeletions(context, { id, decision, ...options }),
      );
  }
}

interface DecisionOptions extends JsonOption {
  readonly pigeonhole?: string;
  readonly list?: string;
  readonly all: boolean;
  readonly yes: boolean;
}

/** Maximum number of held deletions that `confirm` and `list` name before they show only a total. */
const maxHoldsShown = 20;

/**
 * `pigeonpost deletions confirm|reject --pigeonhole|--list|--all`: decides about all held deletions of the scope. Asks
 * like `confirm <id>`. Exit 0, 1 if the set has changed or the operator declines, 4 if no deletions are held there.
 */
export async function decideAll(
  context: Context,
  decision: Decision['decision'],
  { pigeonhole, list, all, yes, json }: DecisionOptions,
): Promise<ExitCode> {
  const { out } = context;
  if (pigeonhole === undefined && list === undefined && !all) {
    throw wrongUse('name a held deletion by its number, or give --pigeonhole, --list or --all');
  }
  if (all && (pigeonhole !== undefined || list !== undefined)) {
    throw wrongUse('--all decides about every held deletion: leave out --pigeonhole and --list');
  }
  const place = pigeonhole === undefined ? undefined : placeIn(pigeonhole);
  const client = await clientOf(context);
  const { held } = await client.get('/api/deletions', {});
  const own = held.filter(
    (each) =>
      (list === undefined || each.list === list) &&
      (place === undefined || (each.workspace === place.workspace && each.pigeonholeId === place.pigeonholeId)),
  );
  const items = own.reduce((sum, each) => sum + each.items, 0);
  if (decision === 'confirmed' && !yes && own.length > 0) {
    for (const each of own.slice(0, maxHoldsShown)) out.note(inWords(each));
    if (own.length > maxHoldsShown) out.note(`and ${grouped(own.length - maxHoldsShown)} more`);
    const question = `Notify every sink that ${items === 1 ? 'this item is' : `these ${grouped(items)} items are`} deleted?`;
    if (!(await confirm(out, question, 'nothing was decided'))) return ExitCode.Failed;
  }
  const result = await client.post('/api/deletions', {
    json: { decision, items: Math.max(items, 1), ...place, ...(list === undefined ? {} : { list }) },
  });
  const { deletions, items: decided } = result;
  const said = `${counted(decided, 'item')} of ${counted(deletions, 'held deletion')} ${decision === 'confirmed' ? 'deleted' : 'kept'}`;
  return printResult(out, json, { done: true, decision, deletions, items: decided }, said);
}

/** @throws {CommandError} exit 2 if the text is not WORKSPACE/ID */
function placeIn(text: string): { workspace: string; pigeonholeId: number } {
  const [, workspace, id] = /^([^/]+)\/(\d+)$/.exec(text) ?? [];
  if (workspace === undefined)
    throw wrongUse(`"${text}" is not a pigeonhole: write WORKSPACE/ID, for example acme/101`);
  return { workspace, pigeonholeId: Number(id) };
}

/** Maximum number of keys shown on a terminal; `--json` lists all. */
const maxKeysShown = 20;

/** `pigeonpost deletions list`: lists held deletions. Exit 0, also if there are none. */
export async function listDeletions(context: Context, { json }: JsonOption): Promise<ExitCode> {
  const { held } = await (await clientOf(context)).get('/api/deletions', {});
  if (held.length === 0) return printResult(context.out, json, { held }, 'no held deletions');
  return printResult(context.out, json, { held }, [...held.map(inWords), ...totalOf(held)]);
}

/** Returns the lines below a list of several held deletions: their total, and how to decide about all of an event. */
function totalOf(held: readonly HeldDeletions[]): string[] {
  if (held.length === 1) return [];
  const places = [...new Set(held.map(({ workspace, pigeonholeId }) => `${workspace}/${pigeonholeId}`))];
  const items = held.reduce((sum, each) => sum + each.items, 0);
  const where = places.length === 1 ? `pigeonhole ${places[0]}` : `${grouped(places.length)} pigeonholes`;
  return [
    `${counted(items, 'item')} in ${where}. To decide about all of a pigeonhole, run "pigeonpost deletions confirm --pigeonhole ${places[0]}", or "reject".`,
  ];
}

/**
 * `pigeonpost deletions confirm|reject <id>`: confirms or rejects exactly the items that were shown. `confirm` asks
 * first, unless `--yes` is given. Exit 0, 1 if the set has changed or the operator declines, 4 if there is no held
 * deletion with this ID.
 */
async function decideDeletions(
  context: Context,
  { id, decision, yes, json }: { id: string; decision: 'confirmed' | 'rejected'; yes: boolean; json: boolean },
): Promise<ExitCode> {
  const { out } = context;
  const client = await clientOf(context);
  const hold = await heldDeletions(client, id);
  if (decision === 'confirmed' && !yes) {
    out.note(inWords(hold));
    const names = namesOf(hold);
    const more =
      names.length > maxKeysShown
        ? `, and ${grouped(names.length - maxKeysShown)} more (see "pigeonpost deletions show ${id} --json")`
        : '';
    out.note(`items: ${names.slice(0, maxKeysShown).join(', ')}${more}`);
    const question = 'Notify every sink that these items are deleted?';
    if (!(await confirm(out, question, 'nothing was decided'))) return ExitCode.Failed;
  }
  const { items } = await client.post('/api/deletions/{id}', {
    params: { id: hold.id },
    json: { decision, items: hold.items },
  });
  const said = `${counted(items, 'item')} ${decision === 'confirmed' ? 'deleted' : 'kept'}`;
  return printResult(out, json, { done: true, id: hold.id, decision, items }, said);
}

/** `pigeonpost deletions show <id>`: lists the exact items. */
export async function showDeletions(context: Context, id: string, { json }: JsonOption): Promise<ExitCode> {
  const hold = await heldDeletions(await clientOf(context), id);
  const lines = [inWords(hold), ...namesOf(hold).map((name) => `  ${name}`)];
  return printResult(context.out, json, hold, lines);
}

/** @throws {CommandError} exit 2 if the ID is not a number */
async function heldDeletions(client: ApiClient, id: string): Promise<HeldDeletions> {
  if (/^\d+$/.test(id)) return await client.get('/api/deletions/{id}', { params: { id } });
  throw wrongUse(`"${id}" is not the number of a held deletion: list them with "pigeonpost deletions list"`);
}

/** Returns the items, each by its key and what it is: `questions:9001 (a question in “Opening keynote”)`. */
function namesOf({ list, keys = [], names = [] }: HeldDeletions): string[] {
  return keys.map((key, at) => {
    const name = names[at];
    return `${list}:${shownInLine(key)}${name === undefined ? '' : ` (${shownInLine(nameInWords(name))})`}`;
  });
}

function inWords({
  id,
  workspace,
  pigeonholeId,
  event,
  list,
  items,
  ofItems,
  foundAt,
  sessions,
}: HeldDeletions): string {
  const place = `${workspace}/${pigeonholeId}`;
  const where = `${list} of ${event == null ? `pigeonhole ${place}` : `${shownInLine(event)} (${place})`}`;
  const bySession = sessions.filter(({ sessionId }) => sessionId !== null);
  const split =
    bySession.length > 1
      ? `, from ${bySession.length} sessions`
      : bySession.length === 1
        ? `, from ${bySession[0]!.title == null ? `session ${bySession[0]!.sessionId}` : `“${shownInLine(bySession[0]!.title)}”`}`
        : '';
  const all =
    items >= ofItems ? '; this is the whole list: was test mode switched off, which removes all responses?' : '';
  return `${id}  ${grouped(items)} of ${grouped(ofItems)} ${where} missing since ${foundAt}${split}${all}`;
}
