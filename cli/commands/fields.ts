import { anyListNamed } from '../../operations/command-words.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf } from '../instance.js';
import { formatFields } from '../format-fields.js';

export interface FieldsOptions {
  readonly list: string;
  readonly pigeonhole?: string | undefined;
  readonly json: boolean;
}

/**
 * `pigeonpost fields <list>`: which fields the stored items have, by pigeonhole, how many hold something, and the values
 * of states and kinds; no other values. Exit 0, 4 when nothing of the list is stored.
 */
export async function fields(context: Context, { list, pigeonhole, json }: FieldsOptions): Promise<ExitCode> {
  const { out } = context;
  const named = anyListNamed(list);
  if ('problem' in named) throw new CommandError(ExitCode.WrongUse, named.problem);
  const place = pigeonhole?.replace(/^pigeonhole:/, '');
  if (place !== undefined && !/^(?:[a-z0-9-]+\/)?\d+$/.test(place)) {
    throw new CommandError(ExitCode.WrongUse, `--pigeonhole is "${pigeonhole}": write WORKSPACE/ID, or the ID alone`);
  }
  const found = await (await clientOf(context)).fields({ list: named.list, pigeonhole: place });
  if (json) out.line(JSON.stringify(found));
  if (found.pigeonholes.length === 0) {
    const where = place === undefined ? '' : ` of pigeonhole ${place}`;
    out.note(`nothing of the list ${list}${where} is stored; "pigeonpost status" shows what has been read`);
    return ExitCode.NotFound;
  }
  if (!json) for (const line of found.pigeonholes.flatMap(formatFields)) out.line(line);
  return ExitCode.Done;
}
