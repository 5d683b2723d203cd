import { type CliCommand, type Context, confirm, type JsonOption } from '../command.js';
import type { HeldDeletions } from '../../api/deletions.js';
import { ExitCode, wrongUse } from '../exit-code.js';
import { type ApiClient, clientOf } from '../api-client.js';
import { printResult } from '../output.js';
import { counted, grouped } from '../../base/words.js';

export function addDeletions(program: CliCommand): void {
  const deletions = program
    .command('deletions')
    .description('Confirm or reject deletions that are held because unusually many items of a list are missing');
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
      .command(`${verb} <id>`)
      .description(description)
      .option('--yes', 'skip the confirmation', false)
      .json()
      .examples(`deletions ${verb} 3`)
      .runs((context, id: string, options: JsonOption & { readonly yes: boolean }) =>
        decideDeletions(context, { id, decision, ...options }),
      );
  }
}

/** Maximum number of keys shown on a terminal; `--json` lists all. */
const maxKeysShown = 20;

/** `pigeonpost deletions list`: lists held deletions. Exit 0, also if there are none. */
async function listDeletions(context: Context, { json }: JsonOption): Promise<ExitCode> {
  const { held } = await (await clientOf(context)).get('/api/deletions', {});
  return printResult(context.out, json, { held }, held.length === 0 ? 'no held deletions' : held.map(inWords));
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
    const { keys = [] } = hold;
    const more =
      keys.length > maxKeysShown
        ? `, and ${grouped(keys.length - maxKeysShown)} more (see "pigeonpost deletions show ${id} --json")`
        : '';
    out.note(`items: ${keys.slice(0, maxKeysShown).join(', ')}${more}`);
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
async function showDeletions(context: Context, id: string, { json }: JsonOption): Promise<ExitCode> {
  const hold = await heldDeletions(await clientOf(context), id);
  const lines = [inWords(hold), ...(hold.keys ?? []).map((key) => `  ${hold.list}:${key}`)];
  return printResult(context.out, json, hold, lines);
}

/** @throws {CommandError} exit 2 if the ID is not a number */
async function heldDeletions(client: ApiClient, id: string): Promise<HeldDeletions> {
  if (/^\d+$/.test(id)) return await client.get('/api/deletions/{id}', { params: { id } });
  throw wrongUse(`"${id}" is not the number of a held deletion: list them with "pigeonpost deletions list"`);
}

function inWords({ id, workspace, pigeonholeId, list, items, ofItems, foundAt, sessions }: HeldDeletions): string {
  const where = `${list} of pigeonhole ${workspace}/${pigeonholeId}`;
  const bySession = sessions.filter(({ sessionId }) => sessionId !== null);
  const split =
    bySession.length > 1
      ? `, from ${bySession.length} sessions`
      : bySession.length === 1
        ? `, from session ${bySession[0]!.sessionId}`
        : '';
  const all =
    items >= ofItems ? '; this is the whole list: was test mode switched off, which removes all responses?' : '';
  return `${id}  ${grouped(items)} of ${grouped(ofItems)} ${where} missing since ${foundAt}${split}${all}`;
}
