import { instantNamed, listNamed } from './command-words.js';

const now = new Date('2026-11-21T09:30:00.000Z');

describe('an instant on the command line', () => {
  it.each([
    ['2026-11-20', '2026-11-20T00:00:00.000Z'],
    ['2026-11-20T18:05Z', '2026-11-20T18:05:00.000Z'],
    ['2026-11-20T18:05:06.5+02:00', '2026-11-20T16:05:06.500Z'],
    ['2h', '2026-11-21T07:30:00.000Z'],
    ['30d', '2026-10-22T09:30:00.000Z'],
  ])('%s is %s', (word, expected) => {
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
  ])('%j is none', (word) => {
    expect(instantNamed(word, now)).toBeUndefined();
  });
});

describe('a list on the command line', () => {
  it('is one of the service, by its own name', () => {
    expect(listNamed('poll-mcq-votes')).toEqual({ list: 'poll-mcq-votes' });
  });

  it.each([
    ['qustions', '"qustions" is no list: did you mean "questions"?'],
    ['engagement', expect.stringMatching(/^"engagement" is no list: there are sessions, attendees, questions/)],
  ])('that is %s is none', (word, problem) => {
    expect(listNamed(word)).toEqual({ problem });
  });
});
