import { questionLists } from '../../base/lists.js';
import { isTimezone } from '../../base/zoned-instant.js';
import { counted, formatSpan, grouped } from '../../base/words.js';
import {
  coverageText,
  differenceText,
  localInstant,
  parityText,
  reasonsText,
  removalsText,
  sessionTypeWords,
  summaryOf,
  verdictOf,
} from './statement-sentences.js';
import type { Destination, SignedStatement, Statement } from './statement.js';
import { sameQuestions } from './statement-words.js';
import { pageStyle } from './statement-page-style.js';

/** Lines of tables that fit on two printed pages beside the fixed parts. */
const linesOnPaper = 56;
const minSessions = 5;
const maxInterruptions = 4;
const maxOpenPoints = 5;
/** Characters of the last column of a table that fit on a line. */
const reasonCharacters = 46;

/**
 * Formats a signed statement as a page of its own, without scripts and without anything from other addresses. Printed on
 * A4, it has two pages. Pure.
 */
export function statementPage({ statement, signature }: SignedStatement): string {
  const { event, number, completedAt, agrees } = statement;
  const layout = layoutOf(statement);
  const timezone = zoneOf(event);
  const at = (iso: string): string => localInstant(iso, timezone);
  const title = event.name ?? `Event ${event.id}`;
  const days = [event.firstDay, event.lastDay]
    .filter((day, n, all) => day !== null && all.indexOf(day) === n)
    .join(' to ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(`Closing statement: ${title}`)}</title>
<style>${pageStyle}</style>
</head>
<body>
<header>
<p class="kind">Closing statement <span>No. ${number}</span></p>
<h1>${text(title)}</h1>
<p class="facts">${text([days, `event ${event.workspace}/${event.id}`, event.status === null ? '' : `status “${event.status}”`].filter(Boolean).join(' · '))}<br>
${text(`Made on ${at(completedAt)}. All times are in the time zone ${timezone ?? 'UTC'}.`)}${
    isRunning(statement) ? ' The event was not over: what happens later is not in this statement.' : ''
  }</p>
${layout.isShort ? '' : `<p class="facts">${introduction}</p>`}
</header>
<section class="verdict ${agrees ? 'good' : 'open'}">
<h2>${agrees ? '✓' : '!'} ${text(verdictOf(statement))}</h2>
<p>${text(summaryOf(statement))}</p>
</section>
${openSection(statement)}
${sourceSection(statement)}
${destinationSection(statement, layout)}
${sessionSection(statement, layout, timezone)}
${coverageSection(statement, at)}
<footer>
<h2>How to check this statement</h2>
<p>It was made by ${text(statement.software)} (instance ${text(statement.instance)}) and signed with the key <b>${text(signature.key)}</b>. It contains no
personal data. To check that nobody has altered it, save it as a file and run <code>pigeonpost statement verify FILE --key KEY</code>, with the key
that the operator of pigeonpost has given you. Signature of the figures: <code class="long">${text(signature.value)}</code></p>
</footer>
</body>
</html>`;
}

const introduction =
  'pigeonpost is the program that reads what people do at an event from the event service, and passes it on to the destinations below.';

function isRunning({ event: { status, lastDay }, completedAt }: Statement): boolean {
  return status === 'live' || (lastDay !== null && lastDay > completedAt.slice(0, 10));
}

function openSection({ open }: Statement): string {
  if (open.length === 0) return '';
  const shown = open.length > maxOpenPoints ? open.slice(0, maxOpenPoints - 1) : open;
  const rows = shown.map(
    ({ where, text: what, items, todo }) =>
      `<tr><td>${text(where)}</td><td class="number">${items === null ? '–' : grouped(items)}</td><td>${text(what)}</td><td>${text(todo)}</td></tr>`,
  );
  const more =
    shown.length === open.length
      ? ''
      : `<tr><td colspan="4">and ${grouped(open.length - shown.length)} more, in the table of differences (CSV)</td></tr>`;
  return `<section>
<h2>What is open</h2>
<table class="open"><thead><tr><th>Where</th><th class="number">Items</th><th>What</th><th>What to do</th></tr></thead>
<tbody>${rows.join('\n')}${more}</tbody></table>
</section>`;
}

const mark = (good: boolean): string => (good ? '<td class="mark good">agrees</td>' : '<td class="mark">see left</td>');

function sourceSection({ source }: Statement): string {
  const rows = source.lists.map((list) => {
    const { label, shown, held, differences, readFrom } = list;
    const why = differenceText(list);
    const note = readFrom === null && why === '' ? 'not read again' : why;
    return `<tr><th scope="row">${text(label)}</th><td class="number">${grouped(shown)}</td><td class="number">${grouped(held)}</td><td class="number">${signed(shown - held)}</td><td class="why">${text(note)}</td>${mark(differences.length === 0)}</tr>`;
  });
  const { shown, held } = source;
  const hasBoth = source.lists.filter(({ list, held: n }) => questionLists.has(list) && n > 0).length > 1;
  return `<section>
<h2>1. From the event service to pigeonpost</h2>
<p>For this statement, pigeonpost read every list of the event again from its beginning to its end.</p>
<table class="source"><thead><tr><th>List</th><th class="number">In the event service</th><th class="number">In pigeonpost</th><th class="number">Difference</th><th>Reason for the difference</th><th></th></tr></thead>
<tbody>${rows.join('\n')}</tbody>
<tfoot><tr><th scope="row">Sum</th><td class="number">${grouped(shown)}</td><td class="number">${grouped(held)}</td><td class="number">${signed(shown - held)}</td><td></td><td></td></tr></tfoot></table>${
    hasBoth
      ? `
<p>${sameQuestions}</p>`
      : ''
  }
</section>`;
}

function signed(n: number): string {
  return n === 0 ? '0' : n > 0 ? `+${grouped(n)}` : `−${grouped(-n)}`;
}

const stateNotes: Readonly<Record<Destination['state'], string>> = {
  working: '',
  observing: ', set to observe only: it receives nothing',
  paused: ', paused',
  failing: ', accepts nothing at present',
};

/** Returns the time zone in which the page shows instants; null: UTC. */
function zoneOf({ timezone }: Statement['event']): string | null {
  return timezone !== null && isTimezone(timezone) ? timezone : null;
}

function destinationSection({ destinations, event, requestedAt }: Statement, { isShort }: Layout): string {
  if (destinations.length === 0) return '';
  const bodies = destinations.map((destination) => {
    const { name, type, state } = destination;
    const rows = destinationRows(destination, isShort).map((list) => outcomeRow(list, reasonsText(list)));
    if (rows.length > 1 && !isShort) rows.push(outcomeRow({ ...sumOf(destination.lists), label: 'Sum' }, '', 'sum'));
    const notes = [
      removalsText(destination),
      parityText(destination, (iso) => localInstant(iso, zoneOf(event)), requestedAt),
    ].filter((note) => note !== null);
    return `<tbody><tr class="group"><th colspan="8" scope="rowgroup">${text(name)} <span>(${text(type)}${stateNotes[state]})</span></th></tr>
${rows.join('\n')}${notes.map((note) => `<tr><td colspan="8" class="why">${text(note)}</td></tr>`).join('')}</tbody>`;
  });
  return `<section>
<h2>2. From pigeonpost to each destination</h2>
<p>Items = delivered + withheld + refused + waiting + other. “Delivered”: confirmed by the destination. “Withheld”: not sent, on purpose. “Refused”: not accepted. “Other”: not meant for it.</p>
<table class="destinations"><thead><tr><th>List</th><th class="number">Items</th><th class="number">Delivered</th><th class="number">Withheld</th><th class="number">Refused</th><th class="number">Waiting</th><th class="number">Other</th><th>Why not delivered</th></tr></thead>
${bodies.join('\n')}${
    destinations.length > 1 && !isShort
      ? `
<tbody>${outcomeRow({ ...sumOf(destinations.flatMap(({ lists }) => lists)), label: 'Sum of all destinations' }, '', 'sum')}</tbody>`
      : ''
  }</table>
</section>`;
}

type Outcomes = Pick<
  Destination['lists'][number],
  'items' | 'delivered' | 'withheld' | 'refused' | 'waiting' | 'unsent'
>;

function outcomeRow(
  { label, items, delivered, withheld, refused, waiting, unsent }: Outcomes & { readonly label: string },
  why: string,
  style = '',
): string {
  const numbers = [items, delivered, withheld, refused, waiting, unsent];
  const cells = numbers.map((n) => `<td class="number${n === 0 ? ' none' : ''}">${grouped(n)}</td>`).join('');
  return `<tr${style === '' ? '' : ` class="${style}"`}><th scope="row">${text(label)}</th>${cells}<td class="why">${text(why)}</td></tr>`;
}

function sumOf(lists: readonly Outcomes[]): Outcomes {
  const sum = (pick: (list: Outcomes) => number): number => lists.reduce((total, list) => total + pick(list), 0);
  return {
    items: sum(({ items }) => items),
    delivered: sum(({ delivered }) => delivered),
    withheld: sum(({ withheld }) => withheld),
    refused: sum(({ refused }) => refused),
    waiting: sum(({ waiting }) => waiting),
    unsent: sum(({ unsent }) => unsent),
  };
}

/** Returns the lines of the tables without the one of the sessions. */
function linesOf(
  { open, source, destinations, coverage }: Statement,
  { isShort }: { readonly isShort: boolean },
): number {
  const linesOfText = (reason: string): number => Math.max(1, Math.ceil(reason.length / reasonCharacters));
  const sum = (lines: readonly number[]): number => lines.reduce((total, n) => total + n, 0);
  return (
    (open.length === 0 ? 0 : 4 + 4 * Math.min(open.length, maxOpenPoints)) +
    sum(source.lists.map((list) => linesOfText(differenceText(list)))) +
    sum(
      destinations.map((destination) => {
        const rows = destinationRows(destination, isShort);
        return (
          1 +
          (rows.length > 1 && !isShort ? 1 : 0) +
          sum(rows.map((list) => linesOfText(reasonsText(list)))) +
          (removalsText(destination) === null ? 0 : 2) +
          (destination.parity === null ? 0 : 2)
        );
      }),
    ) +
    Math.min(coverage.interruptions.length, maxInterruptions + 1)
  );
}

/** Limits that keep the statement on two pages. Every sum stays. */
interface Layout {
  /** Whether the lists of which a destination has everything are in one row. */
  readonly isShort: boolean;
  /** Maximum number of rows of the table of sessions. */
  readonly sessions: number;
}

function layoutOf(statement: Statement): Layout {
  const isShort = linesOf(statement, { isShort: false }) + minSessions > linesOnPaper;
  return { isShort, sessions: Math.max(minSessions, linesOnPaper - linesOf(statement, { isShort })) };
}

type DestinationRow = Pick<
  Destination['lists'][number],
  'label' | 'items' | 'delivered' | 'withheld' | 'refused' | 'waiting' | 'unsent' | 'reasons'
>;

/** Returns the rows of a destination. @param isShort lists of which it has everything are added up in the last row */
function destinationRows({ lists }: Destination, isShort: boolean): readonly DestinationRow[] {
  const whole = lists.filter(({ items, delivered }) => items === delivered);
  if (!isShort || whole.length < 2) return lists;
  const items = whole.reduce((sum, list) => sum + list.items, 0);
  const rest = { items, delivered: items, withheld: 0, refused: 0, waiting: 0, unsent: 0, reasons: [] };
  const label = `${grouped(whole.length)} lists, complete`;
  return [...lists.filter((list) => !whole.includes(list)), { label, ...rest }];
}

function sessionSection(statement: Statement, layout: Layout, timezone: string | null): string {
  const { source, sessions } = statement;
  const lists = source.lists.filter((list) => list.sessions.length > 0);
  if (lists.length === 0) return '';
  const counts = lists.map((list) => new Map(list.sessions.map((row) => [row.session, row])));
  const known = new Set(sessions.map(({ session }) => session));
  const others = [...new Set(lists.flatMap((list) => list.sessions.map(({ session }) => session)))].filter(
    (session) => session === null || !known.has(session),
  );
  const all = [
    ...sessions.map(({ session, type, startsAt }) => ({
      session: session as number | null,
      label: [
        startsAt === null ? null : localInstant(startsAt, timezone).replace(/ \d{4},/, ','),
        sessionTypeWords(type) || null,
        `ID ${session}`,
      ]
        .filter((part) => part !== null)
        .join(' · '),
    })),
    ...others.map((session) => ({ session, label: session === null ? 'no session' : `deleted session ${session}` })),
  ].filter(({ session }) => counts.some((rows) => rows.has(session)));
  const limit = layout.sessions;
  const shown = all.length > limit ? all.slice(0, limit - 1) : all;
  const rest = all.slice(shown.length);
  const cellOf = (rows: (typeof counts)[number], ids: readonly (number | null)[]): string => {
    const own = ids.flatMap((id) => rows.get(id) ?? []);
    const sum = (pick: (row: (typeof own)[number]) => number): number => own.reduce((n, row) => n + pick(row), 0);
    const [there, here] = [sum((row) => row.shown), sum((row) => row.held)];
    if (own.length === 0) return '<td class="number none">0</td>';
    return `<td class="number${there === 0 && here === 0 ? ' none' : ''}">${there === here ? grouped(there) : `<b>${grouped(there)} / ${grouped(here)}</b>`}</td>`;
  };
  const without = sessions.length - (all.length - others.length);
  const row = (label: string, ids: readonly (number | null)[]): string =>
    `<tr><th scope="row">${text(label)}</th>${counts.map((rows) => cellOf(rows, ids)).join('')}</tr>`;
  return `<section>
<h2>3. By session</h2>
<p>The items of section 1 that belong to sessions. Two numbers in a cell: in the event service / in pigeonpost; one number: both have the same.${
    without > 0 ? ` ${counted(without, 'session')} without such items ${without === 1 ? 'is' : 'are'} left out.` : ''
  }</p>
<table class="by-session"><thead><tr><th>Session</th>${lists.map(({ label }) => `<th class="number">${text(label)}</th>`).join('')}</tr></thead>
<tbody>${shown.map(({ label, session }) => row(label, [session])).join('\n')}${
    rest.length === 0
      ? ''
      : row(
          `${grouped(rest.length)} further sessions together`,
          rest.map(({ session }) => session),
        )
  }</tbody>
<tfoot>${row(
    'Sum',
    all.map(({ session }) => session),
  )}</tfoot></table>
</section>`;
}

function coverageSection(statement: Statement, at: (iso: string) => string): string {
  const { from, until, interruptions } = statement.coverage;
  const longest = interruptions.toSorted((a, b) => b.seconds - a.seconds).slice(0, maxInterruptions);
  const shown = interruptions.filter((each) => longest.includes(each));
  const rest = interruptions.filter((each) => !longest.includes(each));
  const seconds = rest.reduce((sum, each) => sum + each.seconds, 0);
  const rows = [
    ...shown.map(
      ({ since, until: end, seconds: n, text: what }) =>
        `<tr><td>${text(at(since))}</td><td>${end === null ? 'still' : text(at(end))}</td><td class="number">${formatSpan(n)}</td><td>${text(what)}</td></tr>`,
    ),
    ...(rest.length === 0
      ? []
      : [
          `<tr><td colspan="2">${grouped(rest.length)} shorter ones together</td><td class="number">${formatSpan(seconds)}</td><td></td></tr>`,
        ]),
  ];
  const number = statement.source.lists.some(({ sessions }) => sessions.length > 0) ? 4 : 3;
  return `<section>
<h2>${number}. When pigeonpost watched the event</h2>
<p>${text(`From ${at(from)} to ${at(until)}. ${coverageText(statement)} What happened before is included, because every list is read from its beginning.`)}</p>
${rows.length === 0 ? '' : `<table class="times"><thead><tr><th>From</th><th>To</th><th class="number">Duration</th><th>What happened</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`}
</section>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for HTML. */
function text(plain: string): string {
  return plain.replaceAll(/[&<>"']/g, (character) => entities[character]!);
}
