import { compareContacts, type TrueAttendee } from './compare-contacts.js';
import type { HubSpotState } from './hubspot-state.js';

const ann: TrueAttendee = {
  pigeonholeId: 101,
  consent: { obtained: true },
  Name: 'Ann de la Cruz',
  Email: 'Ann@example.com',
  Company: 'Acme & Sons',
  'Job title': 'Nurse',
  Country: 'Kenya',
};
const contactOfAnn = {
  email: 'ann@example.com',
  firstname: 'Ann',
  lastname: 'de la Cruz',
  company: 'Acme & Sons',
  jobtitle: 'Nurse',
  country: 'Kenya',
};

function hubSpot(given: Partial<HubSpotState> = {}): HubSpotState {
  return {
    contacts: [contactOfAnn],
    marketingEvents: [{ externalEventId: '101' }],
    participations: [{ event: '101', email: 'ann@example.com', state: 'ATTENDED' }],
    ...given,
  };
}

describe('the contacts that are held against the attendees', () => {
  it('are right with one for each who has consented, in any case of the e-mail, and none for the others', () => {
    const others = [{ obtained: false }, null, undefined].map((consent, n) => ({
      pigeonholeId: 101,
      Email: `other${n}@example.com`,
      ...(consent !== undefined && { consent }),
    }));
    expect(compareContacts([ann, ...others], hubSpot())).toEqual({ delivered: 1, problems: [] });
  });

  it('do not count who is not there', () => {
    expect(compareContacts([ann], hubSpot({ contacts: [], participations: [] }))).toEqual({
      delivered: 0,
      problems: [],
    });
  });

  it.each<[string, Partial<HubSpotState>, string]>([
    [
      'an older value',
      { contacts: [{ ...contactOfAnn, company: 'Former Ltd' }] },
      '1 contacts have another company than the source',
    ],
    [
      'half of a name',
      { contacts: [{ ...contactOfAnn, lastname: '' }] },
      '1 contacts have another name than the source',
    ],
    ['two for one', { contacts: [contactOfAnn, contactOfAnn] }, '1 people have more than one contact'],
    [
      'a stranger',
      { contacts: [contactOfAnn, { email: 'eve@example.com' }] },
      '1 contacts are of nobody who has consented',
    ],
    ['someone who only registered', { participations: [] }, '1 people do not attend their event'],
    [
      'someone at another event',
      { participations: [{ event: '102', email: 'ann@example.com', state: 'ATTENDED' }] },
      '1 people do not attend their event',
    ],
  ])('are found wrong with %s', (_, given, problem) => {
    expect(compareContacts([ann], hubSpot(given))).toEqual({ delivered: 1, problems: [problem] });
  });

  it('are found wrong where someone took consent back and is still there', () => {
    expect(compareContacts([{ ...ann, consent: { obtained: false } }], hubSpot())).toEqual({
      delivered: 0,
      problems: ['1 contacts are of nobody who has consented'],
    });
  });
});
