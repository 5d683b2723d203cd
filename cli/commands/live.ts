import type { LiveChanges } from '../../api/live-changes.js';
import type { Context } from '../context.js';
import type { ExitCode } from '../exit-code.js';
import { instanceOf } from '../instance.js';
import { followChanges } from '../follow-changes.js';
import { listNamed } from '../list-named.js';
import { placeNamed } from '../place-named.js';
import { printLine } from '../print-line.js';

export interface LiveOptions {
  readonly list?: string | undefined;
  readonly pigeonhole?: string | undefined;
  readonly recent: number;
  readonly personal: boolean;
  readonly json: boolean;
}

/** `pigeonpost live`: changes as they are found, until Ctrl-C. With `json` a line for each. */
export async function live(
  context: Context,
  { list, pigeonhole, recent, personal, json }: LiveOptions,
): Promise<ExitCode> {
  const { out } = context;
  const { client, workspaces } = await instanceOf(context);
  const place = pigeonhole === undefined ? undefined : placeNamed(pigeonhole, workspaces);
  const query = {
    ...(list === undefined ? {} : { list: listNamed(list) }),
    ...(place === undefined ? {} : { pigeonhole: `${place.workspace}/${place.id}` }),
    ...(personal ? { personal: '1' } : {}),
  };
  const onLost = (): void => out.note('pigeonpost does not answer; it is asked again until it does');
  const followed = followChanges(client, { query, recent, onLost });
  for await (const { changes, skipped } of followed) {
    for (const change of changes) {
      if (json) out.line(JSON.stringify(change));
      else printLine(out, changeLine(change));
    }
    if (skipped > 0) out.note(`${skipped} changes were left out, since more came than can be followed`);
  }
  throw new Error('changes are followed without an end');
}

/** As a person reads it. Pure. */
export function changeLine(change: LiveChanges['changes'][number]): string {
  const { workspace, pigeonholeId, sessionId, list, key, kind, revision, visibility, foundAt, data } = change;
  const parts = [
    `revision ${revision}`,
    `pigeonhole ${workspace}/${pigeonholeId}`,
    ...(sessionId === null ? [] : [`session ${sessionId}`]),
    ...(visibility === null ? [] : [visibility]),
  ];
  const says = data == null ? '' : `: ${JSON.stringify(data)}`;
  return `${foundAt}  ${kind} ${list}:${key}  ${parts.join(', ')}${says}`;
}
