import { judgeContacts, judgeMessages, type StandingMessage } from './judge-vendors.js';
import type { Source } from './source.js';

const source = (list: string, ...items: readonly Record<string, unknown>[]): Source => ({
  items: items.map((item) => ({ pigeonholeId: 101, list, key: String(item['id']), fingerprint: '', item })),
  absences: [],
  consents: [],
});
const question = (id: number, content: string, status = 'allowed') => ({ id, content, status });
const message = (key: string, text: string): StandingMessage => ({
  text,
  metadata: { event_type: 'pigeonpost_item', event_payload: { pigeonhole: 101, key } },
});
const parent: StandingMessage = {
  text: 'A session',
  metadata: { event_type: 'pigeonpost_thread', event_payload: { thread: 't' } },
};
const gone = 'This message has been withdrawn.';
const faults = (messages: readonly StandingMessage[], of: Source): string[] =>
  judgeMessages(messages, of, { deletions: true, isWanted: ({ status }) => status === 'allowed' }).map(
    ({ fault }) => fault,
  );

describe('the judge of a channel', () => {
  it('finds nothing if each approved question is shown once in its current form, and other messages show nothing', () => {
    const of = source('qna-questions', question(1, 'a < b?'), question(2, 'hidden', 'hidden'));
    expect(faults([parent, message('1', 'a &lt; b?'), message('2', gone), message('3', gone)], of)).toEqual([]);
  });

  it('finds nothing if a message lacks only unreadable characters', () => {
    const of = source('qna-questions', question(1, 'NUL \0 and half \ud83d of a pair'));
    expect(faults([message('1', 'NUL  and half \ufffd of a pair')], of)).toEqual([]);
  });

  it.each<[string, string[], StandingMessage[]]>([
    ['a question that is missing', ['lost'], []],
    ['one in an older state', ['lost'], [message('1', 'older?')]],
    ['one that occurs twice', ['duplicated'], [message('1', 'Now?'), message('1', 'Now?')]],
    ['one that is deleted in the source', ['kept'], [message('1', 'Now?'), message('9', 'Gone?')]],
    ['a thread that was started twice', ['duplicated'], [parent, parent, message('1', 'Now?')]],
  ])('finds %s', (_, expected, messages) => {
    expect(faults(messages, source('qna-questions', question(1, 'Now?')))).toEqual(expected);
  });

  it('finds a question that is no longer approved', () => {
    expect(faults([message('1', 'Now?')], source('qna-questions', question(1, 'Now?', 'hidden')))).toEqual(['kept']);
  });
});

describe('the judge of contacts', () => {
  const person = (id: number, Name: string, isObtained = true) => ({
    id,
    Name,
    Email: `P${id}@Example.com`,
    consent: { obtained: isObtained },
  });
  const found = (contacts: readonly Record<string, unknown>[], of: Source): string[] =>
    judgeContacts(contacts, of).map(({ fault }) => fault);
  const ann = { email: 'p1@example.com', firstname: 'Ann' };

  it('finds nothing if each person with consent has one contact; people who have withdrawn may stay', () => {
    const of = source('attendees', person(1, 'Ann'), person(2, 'Bob', false), person(3, 'Cy', false));
    expect(found([ann, { email: 'p2@example.com', firstname: 'Bob' }], of)).toEqual([]);
  });

  it.each<[string, string[], Record<string, unknown>[]]>([
    ['one who is missing', ['lost'], []],
    ['one under an older name', ['lost'], [{ ...ann, firstname: 'Anna' }]],
    ['one who occurs twice', ['duplicated'], [ann, ann]],
  ])('finds %s', (_, expected, contacts) => {
    expect(found(contacts, source('attendees', person(1, 'Ann')))).toEqual(expected);
  });
});
