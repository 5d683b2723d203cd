import type { SinkView, WorkState } from '../../operations/status-view.js';
import type { Trouble } from '../../operations/problem.js';
import { counted, grouped, sumOf, formatDistance } from '../../base/words.js';
import { parityClasses } from '../../base/parity-words.js';
import { replayWords } from '../../base/delivery-words.js';
import { reasonWords } from '../../sinks/reason-words.js';
import { span, type Style, type TextLine, cell, widthOf, wrapLines, wrapFacts } from '../text-line.js';

const headings = ['delivered', 'withheld', 'backlog'] as const;
const numberWidth = 10;
const lastWidth = 12;

interface SinkSheet {
  readonly now: Date;
  readonly columns: number;
  /**
   * Details below a sink. `reason`: remarks, and why it does not work. `state`: remarks only, if problems are listed
   * separately. `nothing`: no details.
   */
  readonly says: 'reason' | 'state' | 'nothing';
  /** The open problems. If a sink has an error or a warning, its name is shown in that colour. */
  readonly troubles?: readonly Trouble[];
}

/**
 * Returns the sinks as a table, one line each, with details below a sink. On a narrow terminal it omits the time of the
 * last delivery first, then the ends of long names. Pure.
 */
export function sinkLines(sinks: readonly SinkView[], sheet: SinkSheet): TextLine[] {
  if (sinks.length === 0) return [];
  const { now, columns } = sheet;
  const numbers = headings.length * numberWidth;
  const widest = Math.max('sink'.length, ...sinks.map(({ name, type }) => widthOf(`${name} (${type})`)));
  const hasLast = columns >= widest + numbers + lastWidth;
  const nameWidth = Math.max(6, Math.min(widest, columns - numbers - (hasLast ? lastWidth : 0)));
  const titles = headings.map((title) => title.padStart(numberWidth)).join('');
  return [
    [span(`${'sink'.padEnd(nameWidth)}${titles}${hasLast ? 'last'.padStart(lastWidth) : ''}`, 'dim')],
    ...sinks.flatMap((sink) => [
      [
        span(cell(nameOf(sink, nameWidth), nameWidth), troubleStyle(sink, sheet)),
        span(
          grouped(sink.delivered).padStart(numberWidth),
          troubleStyle(sink, sheet) === undefined ? 'green' : undefined,
        ),
        span(grouped(sumOf(sink.withheld)).padStart(numberWidth)),
        span(grouped(sink.backlog).padStart(numberWidth), sink.backlog > 0 ? 'yellow' : undefined),
        ...(hasLast ? [span(lastOf(sink, now).padStart(lastWidth), 'dim')] : []),
      ],
      ...(sheet.says === 'nothing' ? [] : remarks(sink, sheet)),
    ]),
  ];
}

/** Returns the colour of the worst problem of a sink; undefined if it has none. */
function troubleStyle({ name }: SinkView, { troubles = [] }: SinkSheet): Style | undefined {
  const severities = troubles.filter((each) => each.kind === 'sink' && each.name === name).map((each) => each.severity);
  return severities.includes('error') ? 'red' : severities.includes('warning') ? 'yellow' : undefined;
}

/** Formats the name and the type of a sink; omits the type if there is no room. */
function nameOf({ name, type }: SinkView, width: number): string {
  const full = `${name} (${type})`;
  return widthOf(full) <= width ? full : name;
}

function lastOf({ deliveredAt }: SinkView, now: Date): string {
  return deliveredAt === null ? 'never' : formatDistance(new Date(deliveredAt), now);
}

function remarks(sink: SinkView, { now, columns, says }: SinkSheet): TextLine[] {
  const { state, reason, withheld, dead, replays, parity } = sink;
  const facts = (counts: Readonly<Record<string, number>>): string[] =>
    Object.entries(counts).map(([why, n]) => `${grouped(n)} ${reasonWords(why)}`);
  const why = says === 'reason' && reason !== null ? `: ${reason}` : '';
  const sentence = (text: string, style: Style): TextLine[] =>
    wrapLines(text, style, { columns, lead: '  ', indent: 4 });
  return [
    ...(state === 'working' ? [] : sentence(`${state}${why}`, stateStyle(state))),
    ...observationFacts(sink, now).flatMap((fact) => sentence(fact, 'dim')),
    ...replays.flatMap((replay) => {
      const by = replay.requestedBy === null ? '' : ` by ${replay.requestedBy}`;
      const because = replay.reason === null ? '' : ` (${replay.reason})`;
      const at = formatDistance(new Date(replay.since), now);
      return sentence(`replay ${replay.id}${by}${because}, ${at}: ${replayWords(replay)}`, 'dim');
    }),
    ...wrapFacts('  audit: ', parity === null ? [] : parityFacts(parity, now), columns, 'dim'),
    ...wrapFacts('  withheld: ', facts(withheld), columns, 'dim'),
    ...wrapFacts('  dead letters: ', facts(dead), columns, 'red'),
  ];
}

/** Formats when a sink was audited last, and what was found. */
function parityFacts({ auditedAt, compared, ...found }: NonNullable<SinkView['parity']>, now: Date): string[] {
  const counts = { ...found, stale: found.stale + found.explained };
  const classes = parityClasses.flatMap(([name, word]) =>
    name !== 'same' && name !== 'undelivered' && counts[name] > 0 ? [`${grouped(counts[name])} ${word}`] : [],
  );
  if (auditedAt === null) return ['in progress', ...classes];
  const when = formatDistance(new Date(auditedAt), now);
  return [`${counted(compared, 'item')} compared ${when}`, ...(classes.length === 0 ? ['no differences'] : classes)];
}

/** Formats what an observing sink would send, and who approved it. */
function observationFacts({ name, observation, approval }: SinkView, now: Date): string[] {
  if (observation === null) return [];
  if (approval !== null) {
    const by = approval.approvedBy === null ? '' : ` by ${approval.approvedBy}`;
    const because = approval.reason === null ? '' : ` (${approval.reason})`;
    return [`approved${by} ${formatDistance(new Date(approval.since), now)}${because}, so it sends`];
  }
  const { wouldSend, wouldSendAnonymously, wouldWithhold } = observation;
  const all = wouldSend + wouldSendAnonymously;
  const anonymously = wouldSendAnonymously === 0 ? '' : `, ${grouped(wouldSendAnonymously)} of them anonymously`;
  return [
    `observes and sends nothing: would send ${counted(all, 'change')}${anonymously}`,
    ...Object.entries(wouldWithhold).map(([reason, n]) => `would withhold ${grouped(n)}: ${reasonWords(reason)}`),
    `start sending with: pigeonpost sink approve ${name}`,
  ];
}

const styles: Readonly<Record<WorkState, Style>> = {
  working: 'green',
  backfilling: 'yellow',
  waiting: 'yellow',
  paused: 'red',
  failing: 'red',
};

export function stateStyle(state: WorkState): Style {
  return styles[state];
}
