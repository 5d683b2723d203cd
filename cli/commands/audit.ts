import type { Command } from 'commander';
import { exampleText, wholeNumber, type Run, type Context } from '../command.js';
import type { AuditEntryView } from '../../api/audit-log.js';
import { ExitCode } from '../exit-code.js';
import { clientOf, firstOfList, thereIsMore } from '../api-client.js';
import { printLine } from '../output.js';

export function addAudit(program: Command, run: Run): void {
  program
    .command('audit')
    .description('Show who requested what, and the result, newest first')
    .option('--who <name>', "only this caller: a token's name, server.token or local")
    .option('--action <name>', 'only this action, such as pause, redrive-dead-letters or show-personal')
    .option('--target <name>', 'only this target, such as sink:hooks or pigeonhole:acme/101')
    .option('--limit <n>', 'number of entries', wholeNumber(100_000), 100)
    .option('--json', 'print one JSON document', false)
    .addHelpText('after', exampleText('audit --action show-personal --limit 20'))
    .action((options: AuditArguments) => run((context) => audit(context, options)));
}

interface AuditArguments {
  readonly who?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly limit: number;
  readonly json: boolean;
}

/** `pigeonpost audit`: lists audited requests, newest first. Exit 0, also if there are none. */
async function audit(context: Context, { json, limit, ...choice }: AuditArguments): Promise<ExitCode> {
  const { out } = context;
  const client = await clientOf(context);
  const { items, more } = await firstOfList(limit, (part) => client.audit({ ...choice, ...part }));
  if (json) out.line(JSON.stringify({ items, more }));
  else if (items.length === 0) out.line('no audited requests');
  else for (const entry of items) printLine(out, lineOf(entry));
  if (!json && more) out.note(thereIsMore);
  return ExitCode.Done;
}

function lineOf({ at, who, action, target, outcome, status, detail }: AuditEntryView): string {
  const ended = outcome === null ? 'result unknown' : outcome === 'done' ? 'done' : `${outcome} (${status})`;
  const facts = Object.entries(detail)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${value}`);
  return [at, who, action, ...(target === null ? [] : [target]), ended, ...facts].join('  ');
}
