import type { AlertFacts, NewAlertMessage, Occasion } from './looks.js';
import { alertText } from './alert-text.js';

const since = new Date('2026-11-21T09:30:15Z');
const page = 'https://pigeonpost.example.com';
const twelve = Array.from({ length: 12 }, (_, n) => `n${n + 1}`);
const names = 'They are n1, n2, n3, n4, n5, n6, n7, n8, n9, n10 and 2 more.';

function textOf(occasion: Occasion, kind: NewAlertMessage['kind'], facts: AlertFacts = {}, subjects = twelve) {
  return alertText({ occasion, kind, subjects, since, facts }, page);
}

describe('what a person is told of many at once', () => {
  it.each<[Occasion, NewAlertMessage['kind'], AlertFacts, string, string, RegExp, string]>([
    [
      'sink-paused',
      'raised',
      { pausedBy: 'cause', cause: 'credential' },
      '12 sinks are paused',
      `The credentials of all of them are refused. ${names}`,
      /"pigeonpost status"/,
      '/',
    ],
    [
      'workspace-paused',
      'raised',
      { pausedBy: 'person', cause: null },
      '12 workspaces are paused',
      `All by persons. ${names}`,
      /"pigeonpost status"/,
      '/',
    ],
    ['sink-paused', 'raised', { pausedBy: 'cause', cause: null }, '12 sinks are paused', names, /status/, '/'],
    ['behind', 'raised', { backlog: 1200 }, '12 sinks are behind', names, /status/, '/'],
    [
      'dead-letters',
      'raised',
      { letters: 1500 },
      '12 sinks have refused 1,500 changes',
      names,
      /dead-letters list/,
      '/',
    ],
    ['withholding', 'raised', {}, '12 sinks withhold what they should probably send', names, /status/, '/'],
    [
      'deletions-held',
      'raised',
      { items: 2000 },
      '2,000 deletions in 12 pigeonholes wait for a person',
      names,
      /deletions list/,
      '/',
    ],
    ['quota-short', 'raised', {}, 'The request quotas of 12 workspaces will not last', names, /status/, '/'],
    ['import-ended', 'happened', {}, '12 imports have ended', names, /import list/, '/imports'],
  ])('of %s, %s with %j', (occasion, kind, facts, title, says, todo, place) => {
    const text = textOf(occasion, kind, facts);
    expect(text).toEqual({ title, says, todo: expect.stringMatching(todo), link: `${page}/#${place}` });
  });

  it.each<[Occasion, string]>([
    ['sink-paused', '12 sinks are no longer paused'],
    ['workspace-paused', '12 workspaces are no longer paused'],
    ['behind', '12 sinks are no longer behind'],
    ['dead-letters', '12 sinks have fewer dead letters again'],
    ['withholding', '12 sinks no longer withhold what they should send'],
    ['deletions-held', 'No deletions of 12 pigeonholes wait any more'],
    ['quota-short', 'The request quotas of 12 workspaces last again'],
  ])('when %s is over', (occasion, title) => {
    expect(textOf(occasion, 'recovered')).toEqual({ title, says: names, todo: null, link: `${page}/#/` });
  });

  it('names all of few', () => {
    expect(textOf('behind', 'raised', {}, ['crm', 'lms']).says).toBe('They are crm, lms.');
  });
});
