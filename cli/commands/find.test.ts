import { hitLines, notesAbout } from './find.js';

const item = { workspace: 'acme', pigeonholeId: 101, list: 'qna-questions', key: '9001' };

describe('pigeonpost find', () => {
  it('shows what a hit is, and the command that shows more', () => {
    expect(
      hitLines({ kind: 'item', title: 'When is\u001b[2J lunch?', about: 'a question in Lunch', name: null, item }),
    ).toEqual([
      'When is [2J lunch?',
      '  a question in Lunch',
      '  pigeonpost why qna-questions:9001 --pigeonhole acme/101',
    ]);
    const event = { workspace: 'acme', pigeonholeId: 0, list: 'pigeonholes', key: '101' };
    const lastOf = (hit: Parameters<typeof hitLines>[0]): string | undefined => hitLines(hit).at(-1);
    expect([
      lastOf({ kind: 'item', title: 'DevConf', about: 'an event of acme', name: null, item: event }),
      lastOf({ kind: 'import', title: 'people.csv', about: 'import 7', name: '7', item: null }),
      lastOf({ kind: 'sink', title: 'crm', about: 'a sink', name: 'crm', item: null }),
    ]).toEqual(['  pigeonpost ready acme/101', '  pigeonpost import status 7', '  pigeonpost status']);
  });

  it('says what it did not search', () => {
    expect(notesAbout({ hits: [], more: false, unread: 0 }, true)).toEqual(['nothing was found']);
    expect(notesAbout({ hits: [], more: true, unread: 1200 }, false)).toEqual([
      'nothing was found',
      'there are more hits: give a longer text, or --limit N',
      'people and what they wrote are searched only with --personal',
      '1,200 stored changes cannot be found yet: search again in a minute',
    ]);
  });
});
