import type { Why, WhyRevision, WhySink } from '../../api/why.js';
import { shownWord } from '../../operations/command-words.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { clientOf } from '../instance.js';
import { reasonWords } from '../reason-words.js';
import { itemNamed } from '../item-named.js';
import { printLine } from '../print-line.js';

/**
 * `pigeonpost why <list>:<key>`: where an item was read, what each sink was told and answered, or why it was not told.
 * Shows no text of the item. Exit 0, 2 when several pigeonholes have that key, 4 when none has.
 */
export async function why(
  context: Context,
  { item, pigeonhole, json }: { item: string; pigeonhole?: string | undefined; json: boolean },
): Promise<ExitCode> {
  const { out } = context;
  const { list, key } = itemNamed(item);
  const found = await (
    await clientOf(context)
  ).why({
    list,
    key,
    ...(pigeonhole === undefined ? {} : { pigeonhole }),
  });
  const [first, ...others] = found;
  if (first === undefined) {
    const where = pigeonhole === undefined ? '' : ` in pigeonhole ${shownWord(pigeonhole)}`;
    throw new CommandError(ExitCode.NotFound, `no ${list}:${shownWord(key)} was ever read${where}`);
  }
  if (others.length > 0) {
    const places = found.map((each) => `${each.workspace}/${each.pigeonholeId}`).join(', ');
    throw new CommandError(
      ExitCode.WrongUse,
      `${list}:${key} stands in several pigeonholes: add --pigeonhole, one of ${places}`,
    );
  }
  if (json) out.line(JSON.stringify(first));
  else for (const line of timeline(first)) printLine(out, line);
  return ExitCode.Done;
}

/** As a person reads it, oldest first. Pure. */
export function timeline(item: Why): string[] {
  const { list, key, workspace, pigeonholeId, sessionId, revision, deleted, visibility, consent } = item;
  const where = `pigeonhole ${workspace}/${pigeonholeId}${sessionId === null ? '' : `, session ${sessionId}`}`;
  const state = [
    `revision ${revision}`,
    deleted ? 'deleted' : 'present',
    ...(visibility === null ? [] : [visibility === 'named' ? 'named' : `anonymous (${visibility})`]),
    ...(consent === null ? [] : [`consent ${consent}`]),
  ].join(', ');
  return [
    `${list}:${key}  ${where}`,
    `  ${state}`,
    ...item.revisions.flatMap(revisionLines),
    ...(item.missingSince === null ? [] : [`${item.missingSince}  missing in a walk; its absence is being examined`]),
    `its stream was read ${item.polledAt ?? 'never'}, swept ${item.sweptAt ?? 'never'}`,
    ...(item.failure === null ? [] : [`its stream fails: ${item.failure}`]),
  ];
}

function revisionLines({ revision, kind, foundAt, readAs, requestId, visibility, sinks }: WhyRevision): string[] {
  const source = readAs === null ? 'from what else is known' : `read by ${readAs}`;
  const id = requestId === null ? '' : `, request ${requestId}`;
  const shown = visibility === null ? '' : `, ${visibility}`;
  return [`${foundAt}  revision ${revision} ${kind}, ${source}${id}${shown}`, ...sinks.map(sinkLine)];
}

function sinkLine({
  sink,
  state,
  reason,
  detail,
  attempts,
  at,
  dueAt,
  identity,
  configuration,
  replay,
}: WhySink): string {
  const parts = [
    inWords(state, reason),
    ...(detail === null ? [] : [detail]),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(dueAt === null ? [] : [`due ${dueAt}`]),
    ...(state === 'delivered' && identity === false ? ['without the person'] : []),
    ...(configuration === null ? [] : [`configuration ${configuration}`]),
    ...(replay === null ? [] : [`replay ${replay}`]),
  ];
  return `  ${at ?? '-'.padEnd(24)}  ${sink}: ${parts.join('; ')}`;
}

function inWords(state: string, reason: string | null): string {
  switch (state) {
    case 'withheld':
      return `withheld: ${reasonWords(reason ?? '')}`;
    case 'dead':
      return `dead letter: ${reason ?? ''}`;
    case 'superseded':
      return 'superseded by a later revision';
    case 'behind':
      return 'not reached yet';
    case 'passed':
      return 'of no interest under the configuration of that time';
    case 'delivered':
      return reason === 'by-replay' ? 'delivered by a replay' : 'delivered';
    case 'sending':
      return 'on its way, outcome not known yet';
    case 'retry':
      return 'failed for now';
    default:
      return state;
  }
}
