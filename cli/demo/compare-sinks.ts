import { type HubSpotState, readText, type SlackState, withdrawnText } from './stand-in-state.js';
import { counted } from '../../base/words.js';

/** An attendee in the sandbox, with the fields that a contact shows. */
export interface TrueAttendee {
  readonly pigeonholeId: number;
  readonly consent?: { readonly obtained: boolean } | null;
  readonly Name?: string;
  readonly Email?: string;
  readonly Company?: string;
  readonly 'Job title'?: string;
  readonly Country?: string;
}

function hasConsented({ consent }: Pick<TrueAttendee, 'consent'>): boolean {
  return consent?.obtained === true;
}

/**
 * Compares the contacts with the source. Every attendee with consent must have exactly one contact with the current
 * data and attend their event, and there must be no other contacts. Does not use the sink's code. Pure.
 */
export function compareContacts(attendees: readonly TrueAttendee[], hubSpot: HubSpotState): SinkComparison {
  const byEmail = new Map<string, HubSpotState['contacts'][number][]>();
  for (const contact of hubSpot.contacts) {
    const email = contact['email'] ?? '';
    byEmail.set(email, [...(byEmail.get(email) ?? []), contact]);
  }
  const attending = new Set(
    hubSpot.participations
      .filter(({ state }) => state === 'ATTENDED')
      .map(({ event, email }) => JSON.stringify([event, email])),
  );
  const consenting = attendees.filter(hasConsented);
  const expected = new Set(consenting.map(emailOf));
  let delivered = 0;
  let notAttending = 0;
  const wrong = new Map<string, number>();
  for (const attendee of consenting) {
    const contacts = byEmail.get(emailOf(attendee)) ?? [];
    if (contacts.length === 0) continue; // the difference appears in the row of the table
    delivered += 1;
    for (const field of wrongFields(attendee, contacts[0]!)) wrong.set(field, (wrong.get(field) ?? 0) + 1);
    if (!attending.has(JSON.stringify([String(attendee.pigeonholeId), emailOf(attendee)]))) notAttending += 1;
  }
  const twice = [...byEmail.values()].filter((contacts) => contacts.length > 1).length;
  const strangers = [...byEmail.keys()].filter((email) => !expected.has(email)).length;
  return {
    delivered,
    problems: [
      ...[...wrong].map(([field, n]) => `${counted(n, 'contact')} with a ${field} that differs from the source`),
      ...problem(twice, ['person has', 'people have'], 'more than one contact'),
      ...problem(strangers, ['contact belongs', 'contacts belong'], 'to no attendee with consent'),
      ...problem(notAttending, ['person does', 'people do'], 'not attend their event'),
    ],
  };
}

function emailOf({ Email }: TrueAttendee): string {
  return (Email ?? '').toLowerCase();
}

/** Returns the names of fields that differ, without their values. */
function wrongFields(attendee: TrueAttendee, contact: Readonly<Record<string, string>>): string[] {
  const { firstname = '', lastname = '', company, jobtitle, country } = contact;
  return [
    ...(`${firstname} ${lastname}`.trim() === (attendee.Name ?? '') ? [] : ['name']),
    ...(company === attendee.Company ? [] : ['company']),
    ...(jobtitle === attendee['Job title'] ? [] : ['job title']),
    ...(country === attendee.Country ? [] : ['country']),
  ];
}

/** One list at one destination, compared with the source. */
interface SinkComparison {
  /** Number of the source's items that the destination has. */
  readonly delivered: number;
  /** Unexpected or wrong records, one sentence each, without personal data. */
  readonly problems: readonly string[];
}

/** A question in the sandbox, with the fields that a message shows. */
export interface TrueQuestion {
  readonly content: string;
  readonly status: string;
  readonly attendee: { readonly id: number; readonly anonymous: boolean };
  readonly session: { readonly name: string };
}

/**
 * Compares the messages with the source. Each approved question must appear once in the thread of its session, with its
 * current text, and with its author's name if the author may be identified. No other message may show a text. Does not
 * use the sink's code, but compares the messages as people read them. Pure.
 */
export function compareMessages(
  questions: readonly TrueQuestion[],
  attendees: readonly (TrueAttendee & { readonly id: number })[],
  slack: SlackState,
): SinkComparison {
  const threads = slack.channels.flatMap(({ messages }) => messages);
  const shown = threads.flatMap((thread) => {
    const title = readText(thread);
    return thread.replies.map((reply) => ({ title, text: readText(reply) }));
  });
  const redacted = shown.filter(({ text }) => text === withdrawnText).length;
  const left = new Map<string, number>();
  for (const { title, text } of shown) {
    if (text !== withdrawnText) count(left, JSON.stringify([title, readable(text)]), 1);
  }
  const names = new Map(attendees.filter(hasConsented).map(({ id, Name }) => [id, Name]));
  let standing = 0;
  for (const { content, status, attendee, session } of questions) {
    if (status !== 'allowed') continue;
    const name = attendee.anonymous ? undefined : names.get(attendee.id);
    const message = JSON.stringify([session.name, readable(`${name ?? 'Someone'}: ${content}`)]);
    if ((left.get(message) ?? 0) === 0) continue; // the difference appears in the row of the table
    count(left, message, -1);
    standing += 1;
  }
  const others = [...left.values()].reduce((sum, n) => sum + n, 0);
  return {
    delivered: standing + redacted, // a withdrawn question counts as delivered once its message is redacted
    problems: problem(
      others,
      ['message shows', 'messages show'],
      `a text that matches no approved question, or ${others === 1 ? 'repeats' : 'repeat'} one`,
    ),
  };
}

/** Returns a sentence about `n` things, or nothing if there are none. */
function problem(n: number, [one, many]: readonly [string, string], rest: string): string[] {
  return n === 0 ? [] : [`${counted(n, one, many)} ${rest}`];
}

/** Removes control characters and lone surrogates, which are invisible in a message. */
function readable(text: string): string {
  return Buffer.from(text)
    .toString()
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
}

function count(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
