import { listNames } from './lists.js';
import {
  countedItems,
  hasPublicTitles,
  nameInWords,
  nounOf,
  placeInWords,
  searchedLists,
  searchedTexts,
  titleOf,
} from './item-titles.js';

const question = { id: 9001, content: 'When is lunch?' };

describe('the title of an item', () => {
  it.each([
    ['sessions', { name: ' Opening\n keynote ' }, 'Opening keynote'],
    ['pigeonholes', { name: 'DevConf' }, 'DevConf'],
    ['questions', { question }, 'When is lunch?'],
    ['qna-questions', question, 'When is lunch?'],
    ['votes', { question }, 'When is lunch?'],
    ['answers', { answer: { id: 1, content: 'Soup' } }, 'Soup'],
    ['answer_ratings', { question, answerRating: { rate: 4 } }, '4 for “When is lunch?”'],
    ['poll-mcq-votes', { question, option: { content: 'At noon' } }, 'At noon (When is lunch?)'],
    ['poll-quiz-votes', { option: { content: 'At noon' } }, 'At noon'],
    ['attendees', { attendeeCode: 'C-1', Company: 'Acme', Name: 'Ada Smith' }, 'Ada Smith'],
    ['attendees', { 'Company Name': 'Acme', 'First name': 'Ada', LastName: 'Smith' }, 'Ada Smith'],
    ['attendees', { 'Company Name': 'Acme', linkedIn: { firstName: 'Ada', lastName: 'Smith' } }, 'Ada Smith'],
    ['registrants', { Email: 'ada@example.com' }, 'ada@example.com'],
    ['attendees', { attendeeCode: 'C-1', signInTime: '2026-11-21T08:00:00Z' }, null],
    ['questions', { question: null }, null],
    ['engagement', { scope: 'session' }, null],
  ])('of %s with %j is %j', (list, fields, title) => {
    expect(titleOf(list, fields)).toBe(title);
  });

  it('has words for a number of items of each list', () => {
    expect([countedItems(1, 'votes'), countedItems(1200, 'answer_ratings'), countedItems(2, 'engagement')]).toEqual([
      '1 vote',
      '1,200 ratings of answers',
      '2 activities of attendees',
    ]);
    for (const list of listNames) expect(countedItems(2, list)).not.toContain('of ' + list);
  });

  it('is public only for events, sessions and subscriptions', () => {
    expect(listNames.filter(hasPublicTitles)).toEqual(['sessions', 'pigeonholes', 'subscriptions']);
  });
});

describe('the name of an item', () => {
  const known = { noun: 'a question', person: null, session: 'Opening keynote', event: 'DevConf' };

  it('is its title, else what it is and where', () => {
    expect(nameInWords({ ...known, title: 'When is lunch?' })).toBe('When is lunch?');
    expect(nameInWords({ ...known, title: null })).toBe('a question in “Opening keynote”');
    expect(nameInWords({ ...known, title: null, session: null })).toBe('a question in “DevConf”');
    expect(nameInWords({ ...known, title: null, session: null, event: null })).toBe('a question');
  });

  it('has its place, without what the name says already', () => {
    expect(placeInWords({ ...known, title: 'When is lunch?' })).toBe('Opening keynote, DevConf');
    expect(placeInWords({ ...known, title: null })).toBe('DevConf');
    expect(placeInWords({ ...known, title: 'DevConf', session: null })).toBe('');
  });

  it('has a noun for every list', () => {
    for (const list of listNames) expect(nounOf(list)).toMatch(/^(an?|the) [a-z ]+$/);
  });
});

describe('the texts that a search finds', () => {
  it('of a person are all that they entered, without codes and instants', () => {
    const fields = {
      id: 1,
      attendeeCode: 'C-1',
      signInTime: '2026',
      Name: 'Ada',
      Email: 'a@b.c',
      twitter: { screenName: 'ada' },
    };
    expect(searchedTexts('attendees', fields)).toEqual(['Ada', 'a@b.c', 'ada']);
  });

  it('are none for votes, which repeat their question', () => {
    expect(searchedTexts('votes', { question })).toEqual([]);
    expect(searchedLists).not.toContain('votes');
  });
});
