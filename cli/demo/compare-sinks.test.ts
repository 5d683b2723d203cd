import { compareContacts, type TrueAttendee, compareMessages, type TrueQuestion } from './compare-sinks.js';
import {
  type HubSpotState,
  type ShownMessage,
  type SlackState,
  slackSummary,
  withdrawnText,
} from './stand-in-state.js';

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

describe('contacts compared with attendees', () => {
  it('agree if each attendee with consent has one, whatever the case of the e-mail address, and others have none', () => {
    const others = [{ obtained: false }, null, undefined].map((consent, n) => ({
      pigeonholeId: 101,
      Email: `other${n}@example.com`,
      ...(consent !== undefined && { consent }),
    }));
    expect(compareContacts([ann, ...others], hubSpot())).toEqual({ delivered: 1, problems: [] });
  });

  it('do not count attendees without a contact', () => {
    expect(compareContacts([ann], hubSpot({ contacts: [], participations: [] }))).toEqual({
      delivered: 0,
      problems: [],
    });
  });

  it.each<[string, Partial<HubSpotState>, string]>([
    [
      'an older value',
      { contacts: [{ ...contactOfAnn, company: 'Former Ltd' }] },
      '1 contact with a company that differs from the source',
    ],
    [
      'half of a name',
      { contacts: [{ ...contactOfAnn, lastname: '' }] },
      '1 contact with a name that differs from the source',
    ],
    ['two contacts for one person', { contacts: [contactOfAnn, contactOfAnn] }, '1 person has more than one contact'],
    [
      'a contact without an attendee',
      { contacts: [contactOfAnn, { email: 'eve@example.com' }] },
      '1 contact belongs to no attendee with consent',
    ],
    ['a person who registered but did not attend', { participations: [] }, '1 person does not attend their event'],
    [
      'a person who attended another event',
      { participations: [{ event: '102', email: 'ann@example.com', state: 'ATTENDED' }] },
      '1 person does not attend their event',
    ],
  ])('are reported as wrong with %s', (_, given, problem) => {
    expect(compareContacts([ann], hubSpot(given))).toEqual({ delivered: 1, problems: [problem] });
  });

  it('are counted in words for several people', () => {
    const bea = { ...ann, Email: 'bea@example.com' };
    const contactOfBea = { ...contactOfAnn, email: 'bea@example.com' };
    const strangers = [{ email: 'eve@example.com' }, { email: 'mallory@example.com' }];
    const contacts = [contactOfAnn, contactOfAnn, contactOfBea, contactOfBea, ...strangers];
    expect(compareContacts([ann, bea], hubSpot({ contacts, participations: [] })).problems).toEqual([
      '2 people have more than one contact',
      '2 contacts belong to no attendee with consent',
      '2 people do not attend their event',
    ]);
  });

  it('disagree if a person withdrew consent and still has a contact', () => {
    expect(compareContacts([{ ...ann, consent: { obtained: false } }], hubSpot())).toEqual({
      delivered: 0,
      problems: ['1 contact belongs to no attendee with consent'],
    });
  });
});

const people = [
  { id: 1, pigeonholeId: 101, consent: { obtained: true }, Name: 'Ann' },
  { id: 2, pigeonholeId: 101, consent: { obtained: false }, Name: 'Bob' },
];

function question(content: string, given: Partial<TrueQuestion> = {}): TrueQuestion {
  return {
    content,
    status: 'allowed',
    attendee: { id: 1, anonymous: false },
    session: { name: 'Town hall 1' },
    ...given,
  };
}

function shows(text: string): ShownMessage {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return { text: 'for notifications', blocks: [{ text: { text: escaped } }] };
}

function slack(...texts: readonly string[]): SlackState {
  const replies = texts.map(shows);
  return { channels: [{ id: 'C1', messages: [{ ...shows('Town hall 1'), replies }] }] };
}

describe('messages compared with questions', () => {
  it('agree if each approved question has one, with the name only of askers who may be identified', () => {
    const questions = [
      question('one'),
      question('two', { attendee: { id: 2, anonymous: false } }),
      question('three', { attendee: { id: 1, anonymous: true } }),
      question('four', { status: 'pending' }),
    ];
    const shown = slack('Ann: one', 'Someone: two', 'Someone: three');
    expect(compareMessages(questions, people, shown)).toEqual({ delivered: 3, problems: [] });
  });

  it('are compared as displayed and not as sent to Slack', () => {
    const asked = '<!channel> & <https://example.com|this>?';
    expect(compareMessages([question(asked)], people, slack(`Ann: ${asked}`))).toEqual({ delivered: 1, problems: [] });
  });

  it('are compared without control characters and lone surrogates', () => {
    const asked = [question('NUL \0 in it'), question('half \ud83d of a pair'), question('bell \u0007')];
    const shown = slack('Ann: NUL  in it', 'Ann: half \ufffd of a pair', 'Ann: bell ');
    expect(compareMessages(asked, people, shown)).toEqual({ delivered: 3, problems: [] });
  });

  it('count once for each of two questions with the same text', () => {
    const twice = [question('one'), question('one')];
    expect(compareMessages(twice, people, slack('Ann: one', 'Ann: one'))).toEqual({ delivered: 2, problems: [] });
    expect(compareMessages(twice, people, slack('Ann: one'))).toEqual({ delivered: 1, problems: [] });
  });

  it('count a redacted message of a withdrawn question as delivered', () => {
    const withdrawn = question('one', { status: 'withdrawn' });
    expect(compareMessages([withdrawn], people, slack(withdrawnText))).toEqual({ delivered: 1, problems: [] });
  });

  const problem = '1 message shows a text that matches no approved question, or repeats one';
  it.each<[string, readonly TrueQuestion[], SlackState, number]>([
    ['a question twice', [question('one')], slack('Ann: one', 'Ann: one'), 1],
    ['a question as it was before an edit', [question('one (edited)')], slack('Ann: one'), 0],
    ['a withdrawn question', [question('one', { status: 'withdrawn' })], slack('Ann: one'), 0],
    [
      'the name of a person without consent',
      [question('one', { attendee: { id: 2, anonymous: false } })],
      slack('Bob: one'),
      0,
    ],
    [
      'the name of a person who wants to be anonymous',
      [question('one', { attendee: { id: 1, anonymous: true } })],
      slack('Ann: one'),
      0,
    ],
    ['another session’s question', [question('one', { session: { name: 'Panel 2' } })], slack('Ann: one'), 0],
  ])('are reported as wrong if they show %s', (_, questions, shown, delivered) => {
    expect(compareMessages(questions, people, shown)).toEqual({ delivered, problems: [problem] });
  });
});

describe('the summary of Slack', () => {
  it('counts messages of withdrawn questions separately', () => {
    expect(slackSummary(slack('Ann: one', withdrawnText))).toBe('1 question in 1 thread, 1 withdrawn');
  });
});
