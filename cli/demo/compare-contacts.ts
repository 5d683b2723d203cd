import type { HubSpotState } from './hubspot-state.js';
import type { Standing } from './standing.js';

/** An attendee of the sandbox's truth, as far as a contact shows them. */
export interface TrueAttendee {
  readonly pigeonholeId: number;
  readonly consent?: { readonly obtained: boolean } | null;
  readonly Name?: string;
  readonly Email?: string;
  readonly Company?: string;
  readonly 'Job title'?: string;
  readonly Country?: string;
}

export function hasConsented({ consent }: Pick<TrueAttendee, 'consent'>): boolean {
  return consent?.obtained === true;
}

/**
 * Who has consented must have exactly one contact, with what the source says of them now, and take part in their event;
 * nobody else may be there. Knows nothing of how the sink does it. Pure.
 */
export function compareContacts(attendees: readonly TrueAttendee[], hubSpot: HubSpotState): Standing {
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
    if (contacts.length === 0) continue; // the row of the table tells that it misses
    delivered += 1;
    for (const field of wrongFields(attendee, contacts[0]!)) wrong.set(field, (wrong.get(field) ?? 0) + 1);
    if (!attending.has(JSON.stringify([String(attendee.pigeonholeId), emailOf(attendee)]))) notAttending += 1;
  }
  const twice = [...byEmail.values()].filter((contacts) => contacts.length > 1).length;
  const strangers = [...byEmail.keys()].filter((email) => !expected.has(email)).length;
  return {
    delivered,
    problems: [
      ...[...wrong].map(([field, n]) => `${n} contacts have another ${field} than the source`),
      ...(twice === 0 ? [] : [`${twice} people have more than one contact`]),
      ...(strangers === 0 ? [] : [`${strangers} contacts are of nobody who has consented`]),
      ...(notAttending === 0 ? [] : [`${notAttending} people do not attend their event`]),
    ],
  };
}

function emailOf({ Email }: TrueAttendee): string {
  return (Email ?? '').toLowerCase();
}

/** Names of fields alone: what stands in them is nobody's matter here. */
function wrongFields(attendee: TrueAttendee, contact: Readonly<Record<string, string>>): string[] {
  const { firstname = '', lastname = '', company, jobtitle, country } = contact;
  return [
    ...(`${firstname} ${lastname}`.trim() === (attendee.Name ?? '') ? [] : ['name']),
    ...(company === attendee.Company ? [] : ['company']),
    ...(jobtitle === attendee['Job title'] ? [] : ['job title']),
    ...(country === attendee.Country ? [] : ['country']),
  ];
}
