import type { AuditEntryView } from '../../api/audit-log.js';
import type { Context } from '../context.js';
import { ExitCode } from '../exit-code.js';
import { clientOf } from '../instance.js';
import { firstOfList, thereIsMore } from '../first-of-list.js';
import { printLine } from '../print-line.js';

export interface AuditArguments {
  readonly who?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly limit: number;
  readonly json: boolean;
}

/** `pigeonpost audit`: who has asked for what, newest first. Exit 0, also when nobody has. */
export async function audit(context: Context, { json, limit, ...choice }: AuditArguments): Promise<ExitCode> {
  const { out } = context;
  const client = await clientOf(context);
  const { items, more } = await firstOfList(limit, (part) => client.audit({ ...choice, ...part }));
  if (json) out.line(JSON.stringify({ items, more }));
  else if (items.length === 0) out.line('nothing was asked for');
  else for (const entry of items) printLine(out, lineOf(entry));
  if (!json && more) out.note(thereIsMore);
  return ExitCode.Done;
}

function lineOf({ at, who, action, target, outcome, status, detail }: AuditEntryView): string {
  const ended = outcome === null ? 'end not known' : outcome === 'done' ? 'done' : `${outcome} (${status})`;
  const facts = Object.entries(detail)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}=${value}`);
  return [at, who, action, ...(target === null ? [] : [target]), ended, ...facts].join('  ');
}
