import { serviceLists } from '../base/lists.js';
import { instantNamed, itemNamed, listNamed, shownWord } from './command-input.js';

const now = new Date('2026-11-21T09:30:00.000Z');

describe('an instant on the command line', () => {
  it.each([
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T18:05Z', '2026-11-20T18:05:00.000Z'],
    ['2026-11-20T18:05:06.5+02:00', '2026-11-20T16:05:06.500Z'],
    ['2h', '2026-11-21T07:30:00.000Z'],
    ['30d', '2026-10-22T09:30:00.000Z'],
  ])('accepts %s as %s', (word, expected) => {
    expect(instantNamed(word, now)?.toISOString()).toBe(expected);
  });

  it.each([
    '',
    'yesterday',
    '2',
    '2026',
    '2026-13-01',
    '2026-11-20 18:05',
    '2026-11-20T25:00Z',
    '-2h',
    '999999999999d',
  ])('rejects %j', (word) => {
    expect(instantNamed(word, now)).toBeUndefined();
  });
});

describe('a list on the command line', () => {
  it('is accepted by its API name', () => {
    expect(listNamed('poll-mcq-votes', serviceLists)).toEqual({ list: 'poll-mcq-votes' });
  });

  it.each([
    ['qustions', '"qustions" is not a list: did you mean "questions"?'],
    ['engagement', expect.stringMatching(/^"engagement" is not a list: there are sessions, attendees, questions/)],
  ])('rejects %s', (word, problem) => {
    expect(listNamed(word, serviceLists)).toEqual({ problem });
  });
});

describe('an item on the command line', () => {
  it.each([
    ['question:9001', { list: 'questions', key: '9001' }],
    ['engagement:ab_-12', { list: 'engagement', key: 'ab_-12' }],
    [`votes:it's "100 %" a:b`, { list: 'votes', key: `it's "100 %" a:b` }],
    [`votes:${'k'.repeat(200)}`, { list: 'votes', key: 'k'.repeat(200) }],
  ])('accepts %s', (word, item) => {
    expect(itemNamed(word)).toEqual(item);
  });

  it.each<[string, string, boolean]>([
    ['9001', '"9001" is not an item: write it as list:key, e.g. questions:9001', false],
    ['', '"" is not an item: write it as list:key, e.g. questions:9001', false],
    ['questions:', '"questions:" is not an item: write it as list:key, e.g. questions:9001', false],
    ['qustions:1', '"qustions" is not a list: did you mean "questions"?', false],
    [
      `${'x'.repeat(10_000)}:1`,
      `"${'x'.repeat(60)}…" is not an item: write it as list:key, e.g. questions:9001`,
      false,
    ],
    [
      `questions:${'9'.repeat(201)}`,
      `no item has the key "${'9'.repeat(60)}…": a key is at most 200 printable characters`,
      true,
    ],
    [
      'questions:1\n\u001b[2J\u0000',
      'no item has the key "1\ufffd\ufffd[2J\ufffd": a key is at most 200 printable characters',
      true,
    ],
    ['questions:\ud800', 'no item has the key "\ufffd": a key is at most 200 printable characters', true],
  ])('rejects %j with a message of one line', (word, problem, notFound) => {
    expect(itemNamed(word)).toEqual({ problem, notFound });
  });
});

describe('a word repeated in a message', () => {
  it('is shortened without splitting a character', () => {
    expect(shownWord('😀'.repeat(61))).toBe(`${'😀'.repeat(60)}…`);
    expect(shownWord('😀'.repeat(60))).toBe('😀'.repeat(60));
  });
});
