import { shownInLine } from '../text-line.js';
import type { CandidateView, EventObjectView, EventView } from '../../operations/provision-event.js';

/** Formats the objects of an event: those that exist, and those that will be or were created. Pure. */
export function formatEvent(view: EventView, at: 'plan' | 'end'): string[] {
  const width = Math.max(0, ...view.objects.map(({ key }) => key.length));
  const lines = [
    `event ${view.event} in workspace ${view.workspace}`,
    ...view.objects.flatMap((object) => objectLines(object, view, at, width)),
    ...summary(view, at),
    ...view.warnings.map((line) => `note: ${line}`),
    ...view.problems.map((line) => `PROBLEM: ${line}`),
  ];
  // Texts of the file and of the service may contain control characters.
  return lines.map((line) => shownInLine(line));
}

/** Returns the question that the command asks before it sends anything. Pure. */
export function questionOf({ objects }: EventView): string {
  const missing = objects.filter(({ state }) => state === 'create').length;
  return missing === 0 ? 'Continue?' : `Create ${missing === 1 ? 'it' : `these ${missing}`}?`;
}

function objectLines(object: EventObjectView, view: EventView, at: 'plan' | 'end', width: number): string[] {
  const { key, state, differences, candidates, problems } = object;
  const head = `  ${key.padEnd(width)}  ${stateWords(object, at)}${details(object, view)}`;
  const below = [
    ...problems,
    ...(differences.length === 0
      ? []
      : [
          ...differences,
          "the service's API cannot change it: edit it in the service's dashboard, or correct the file",
        ]),
    ...candidates.map((candidate) => candidateWords(candidate, view)),
    ...(state === 'undecided'
      ? [`to use an existing one, add --use ${key}=${candidates[0]?.id ?? 'ID'}; to create another, add --new ${key}`]
      : []),
    ...(state === 'gone' ? [`to create it again, add --new ${key}`] : []),
  ];
  return [head, ...below.map((line) => `  ${' '.repeat(width)}    ${line}`)];
}

function stateWords({ state, id, requestId }: EventObjectView, at: 'plan' | 'end'): string {
  switch (state) {
    case 'create':
      return at === 'plan' ? 'to be created' : 'not created';
    case 'created':
      return `created, id ${id}`;
    case 'exists':
      return `exists, id ${id}`;
    case 'claim':
      return at === 'plan' ? `exists, id ${id}, and will be used` : `exists, id ${id}`;
    case 'unknown':
      return 'sent, but the answer was lost: pigeonpost looks the object up before it sends anything again';
    case 'undecided':
      return 'similar to an existing object';
    case 'gone':
      return 'was created earlier and then deleted in the service';
    case 'held':
      return 'waits for its pigeonhole';
    case 'refused':
      return `refused by the service${requestId === null ? '' : ` (request ${requestId})`}`;
    case 'impossible':
      return 'does not match the object given with --use';
  }
}

function details({ kind, state, fields, passcode }: EventObjectView, view: EventView): string {
  const code = passcode === null ? '' : `, passcode ${passcode}`;
  if (state !== 'create') return code;
  const parts =
    kind === 'pigeonhole'
      ? [`${textOf(fields['startDate'])} to ${textOf(fields['endDate'])}`, view.timezone, ...subscriptionWords(view)]
      : [textOf(fields['type']), ...spanWords(textOf(fields['startDate']), textOf(fields['endDate']), view)];
  return `: "${textOf(fields['name'])}", ${parts.join(', ')}`;
}

function subscriptionWords({ subscription }: EventView): string[] {
  return subscription === null ? [] : [`subscription "${subscription.name ?? ''}" (${subscription.id})`];
}

function candidateWords(candidate: CandidateView, view: EventView): string {
  const { id, name, startDate, endDate, status, recordedFor } = candidate;
  const parts = [
    ...spanWords(startDate ?? '', endDate ?? '', view),
    ...(status === null ? [] : [status]),
    ...(recordedFor === null ? [] : [`created or used as ${recordedFor}`]),
  ];
  return [`${id} "${name ?? ''}"`, ...parts].join(', ');
}

/** `2026-11-21 09:00 to 10:00`, in the pigeonhole's time zone; days unchanged. */
function spanWords(from: string, to: string, { timezone }: EventView): string[] {
  const [start, end] = [localTime(from, timezone), localTime(to, timezone)];
  if (start === '') return [];
  if (end === '') return [start];
  const isSameDay = start.length > 10 && start.slice(0, 10) === end.slice(0, 10);
  return [`${start} to ${isSameDay ? end.slice(11) : end}`];
}

function localTime(text: string, timezone: string): string {
  if (!text.includes('T')) return text;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return text;
  // The Swedish format is ISO 8601 with a space between date and time.
  return new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'short' }).format(at);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function summary({ objects }: EventView, at: 'plan' | 'end'): string[] {
  const words: readonly (readonly [readonly EventObjectView['state'][], string])[] = [
    [['created'], 'created'],
    [['create'], at === 'plan' ? 'to be created' : 'not created'],
    [['exists', 'claim'], 'already there'],
    [['refused'], 'refused'],
    [['unknown'], 'to look up'],
    [['undecided', 'gone', 'impossible'], 'for you to decide'],
    [['held'], 'waiting for the pigeonhole'],
  ];
  const counts = words.flatMap(([states, text]) => {
    const n = objects.filter(({ state }) => states.includes(state)).length;
    return n === 0 ? [] : [`${n} ${text}`];
  });
  return counts.length === 0 ? [] : [counts.join(', ')];
}
