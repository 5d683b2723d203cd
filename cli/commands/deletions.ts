import type { Command } from 'commander';
import { exampleText, type Run, type Context, confirm } from '../command.js';
import type { HeldDeletions } from '../../api/deletions.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf } from '../api-client.js';
import { counted, grouped } from '../../base/words.js';

export function addDeletions(program: Command, run: Run): void {
  const deletions = program
    .command('deletions')
    .description('Confirm or reject deletions that are held because unusually many items of a list are missing');
  deletions
    .command('list')
    .description('List held deletions')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('deletions list'))
    .action((options: { json: boolean }) => run((context) => listDeletions(context, options)));
  deletions
    .command('show <id>')
    .description('Show the exact items of a held deletion')
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('deletions show 3'))
    .action((id: string, options: { json: boolean }) => run((context) => showDeletions(context, { id, ...options })));
  const decisions = [
    ['confirm', 'confirmed', 'Confirm that the items are deleted, and notify every sink'],
    ['reject', 'rejected', 'Keep the items as they are'],
  ] as const;
  for (const [verb, decision, description] of decisions) {
    deletions
      .command(`${verb} <id>`)
      .description(description)
      .option('--yes', 'skip the confirmation', false)
      .option('--json', 'print one JSON document', false)
      .addHelpText('after', exampleText(`deletions ${verb} 3`))
      .action((id: string, options: { yes: boolean; json: boolean }) =>
        run((context) => decideDeletions(context, { id, decision, ...options })),
      );
  }
}

/** Maximum number of keys shown on a terminal; `--json` lists all. */
const maxKeysShown = 20;

/** `pigeonpost deletions list`: lists held deletions. Exit 0, also if there are none. */
async function listDeletions(context: Context, { json }: { json: boolean }): Promise<ExitCode> {
  const { out } = context;
  const { held } = await (await clientOf(context)).deletions();
  if (json) out.line(JSON.stringify({ held }));
  else if (held.length === 0) out.line('no held deletions');
  else for (const hold of held) out.line(inWords(hold));
  return ExitCode.Done;
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
  const hold = await client.heldDeletions(numberOf(id));
  if (decision === 'confirmed' && !yes) {
    out.note(inWords(hold));
    const { keys = [] } = hold;
    const more =
      keys.length > maxKeysShown
        ? `, and ${grouped(keys.length - maxKeysShown)} more (see "pigeonpost deletions show ${id} --json")`
        : '';
    out.note(`items: ${keys.slice(0, maxKeysShown).join(', ')}${more}`);
    if (!(await confirm('Notify every sink that these items are deleted?'))) {
      out.note('nothing was decided');
      return ExitCode.Failed;
    }
  }
  const { items } = await client.decideDeletions(hold.id, { decision, items: hold.items });
  if (json) out.line(JSON.stringify({ done: true, id: hold.id, decision, items }));
  else out.line(decision === 'confirmed' ? `${counted(items, 'item')} deleted` : `${counted(items, 'item')} kept`);
  return ExitCode.Done;
}

/** `pigeonpost deletions show <id>`: lists the exact items. */
async function showDeletions(context: Context, { id, json }: { id: string; json: boolean }): Promise<ExitCode> {
  const { out } = context;
  const hold = await (await clientOf(context)).heldDeletions(numberOf(id));
  if (json) out.line(JSON.stringify(hold));
  else {
    out.line(inWords(hold));
    for (const key of hold.keys ?? []) out.line(`  ${hold.list}:${key}`);
  }
  return ExitCode.Done;
}

/** @throws {CommandError} exit 2 */
function numberOf(id: string): number {
  if (/^\d+$/.test(id)) return Number(id);
  throw new CommandError(
    ExitCode.WrongUse,
    `"${id}" is not the number of a held deletion: list them with "pigeonpost deletions list"`,
  );
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
