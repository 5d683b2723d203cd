import { KeyedHash } from '../ledger/keyed-hash.js';
import { type ServiceListName, pigeonholeLists, workspaceLists } from '../base/lists.js';
import { toItems } from './to-items.js';

const hash = new KeyedHash({
  hash: Buffer.alloc(32, 1),
  subject: Buffer.alloc(32, 2),
  fingerprint: Buffer.alloc(32, 3),
});
type Row = Readonly<Record<string, unknown>>;
const read = (
  list: ServiceListName,
  rows: readonly Row[],
  more: { sessionId?: number; ownSessions?: Set<number>; drop?: string[] } = {},
) =>
  toItems(rows, {
    list,
    sessionId: more.sessionId ?? 0,
    ownSessions: more.ownSessions ?? null,
    drop: more.drop ?? [],
    hash,
  });
const one = (
  list: ServiceListName,
  row: Row,
  more: { sessionId?: number; ownSessions?: Set<number>; drop?: string[] } = {},
) => read(list, [row], more).items[0]!;

const at = '2026-11-21T08:00:00.000Z';
const said = { attendeeId: 7, createdAt: at, session: { id: 1, name: 'S' }, question: { id: 11, content: 'Why?' } };
const flagged = {
  id: 51,
  createdAt: at,
  attendee: { id: 7, attendeeCode: 'A7', anonymous: false },
  session: { id: 1 },
};

describe('the conversion of a row', () => {
  it.each<[ServiceListName, Row, { key: string; sessionId: number | null; attendeeId: number | null }]>([
    ['pigeonholes', { id: 101, name: 'E' }, { key: '101', sessionId: null, attendeeId: null }],
    ['subscriptions', { id: 7 }, { key: '7', sessionId: null, attendeeId: null }],
    ['sessions', { id: 1, anonymousResponses: true }, { key: '1', sessionId: 1, attendeeId: null }],
    ['attendees', { id: 7, signInTime: at }, { key: '7', sessionId: null, attendeeId: 7 }],
    ['questions', said, { key: '11', sessionId: 1, attendeeId: 7 }],
    ['answer_ratings', { ...said, answerRating: { id: 31, rate: 4 } }, { key: '31', sessionId: 1, attendeeId: 7 }],
    ['answers', { ...said, answer: { id: 41 } }, { key: '41', sessionId: 1, attendeeId: 7 }],
    ['poll-mcq-votes', flagged, { key: '51', sessionId: 1, attendeeId: 7 }],
    ['poll-quiz-votes', flagged, { key: '51', sessionId: 1, attendeeId: 7 }],
    ['qna-questions', flagged, { key: '51', sessionId: 1, attendeeId: 7 }],
  ])('of %s reads its id, session and person', (list, row, expected) => {
    expect(one(list, row)).toMatchObject(expected);
  });

  it('identifies a vote by a hash of question, person and time that reveals neither person nor time', () => {
    const { key, ...vote } = one('votes', said);
    expect(vote).toMatchObject({ sessionId: 1, attendeeId: 7, visibility: 'judge' });
    expect(key).toMatch(/^[\w-]{43}$/);
    expect(one('votes', { ...said, question: { id: 11, content: 'Edited', status: 'hidden' } }).key).toBe(key);
    for (const other of [
      { attendeeId: 8 },
      { createdAt: '2026-11-21T08:00:01.000Z' },
      { question: { id: 12 } },
      { session: { id: 2 } },
    ]) {
      expect(one('votes', { ...said, ...other }).key).not.toBe(key);
    }
  });

  it.each(['2026-11-21T08:00:00Z', '2026-11-21T08:00:00+00:00', '2026-11-21T09:00:00.0+01:00'])(
    'identifies a vote by its instant, also if the service spells it %s',
    (createdAt) => {
      expect(one('votes', { ...said, createdAt }).key).toBe(one('votes', said).key);
    },
  );

  it('gives a question the same origin in both of its lists, and another one to a later question with its id', () => {
    const origin = (row: Row, list: ServiceListName = 'questions') => one(list, row).origin?.toString('hex');
    const expected = origin(said);
    expect(expected).toMatch(/^[0-9a-f]{32}$/);
    expect(origin({ ...flagged, id: 11 }, 'qna-questions')).toBe(expected);
    expect(origin({ ...said, createdAt: '2026-11-21T10:00:00+02:00' })).toBe(expected);
    expect(origin({ ...said, createdAt: '2026-11-21T08:00:00.250Z' })).toBe(expected); // another precision
    expect(origin({ ...said, createdAt: '2026-11-21T08:00:01.000Z' })).not.toBe(expected);
    expect(origin({ ...said, attendeeId: 8 })).not.toBe(expected);
    expect(origin({ ...said, attendeeId: undefined })).toBeUndefined();
    expect(origin({ ...said, createdAt: undefined })).toBeUndefined();
    expect(origin(said, 'votes')).toBeUndefined();
  });

  it('creates an item for each copy of a vote on one page, with different keys that are the same when the page is read again', () => {
    const keys = read('votes', [said, { ...said, attendeeId: 8 }, said, said]).items.map(({ key }) => key);
    expect(new Set(keys).size).toBe(4);
    expect(keys.slice(2)).toEqual([`${keys[0]}#2`, `${keys[0]}#3`]);
    expect(read('votes', [said, said, said]).items.map(({ key }) => key)).toEqual([keys[0], keys[2], keys[3]]);
  });

  it.each<[ServiceListName, Row]>([
    ['attendees', { Name: 'No id' }],
    ['attendees', { id: '7' }],
    ['sessions', { id: 1.5 }],
    ['sessions', { id: 2 ** 53 }],
    ['questions', { ...said, question: { content: 'No id' } }],
    ['questions', { ...said, question: null }],
    ['answers', said],
    ['votes', { attendeeId: 7, createdAt: at, session: { id: 1 } }],
    ['votes', { attendeeId: 7, question: { id: 11 }, session: { id: 1 } }],
  ])('of %s omits a row that nothing identifies, and counts it', (list, row) => {
    expect(read(list, [row, row])).toEqual({ items: [], unidentified: 2, foreign: 0, strangers: [] });
  });

  it.each([
    [{ obtained: true, obtainedAt: at }, 'obtained'],
    [{ obtained: false }, 'refused'],
    [{ obtained: null }, 'not-asked'],
    [{}, 'not-asked'],
    [null, 'not-asked'],
    [undefined, 'not-known'],
    ['N/A', 'not-known'],
  ])('reads consent %j of an attendee as %s', (consent, expected) => {
    expect(one('attendees', { id: 7, consent }).consent).toBe(expected);
    expect(one('attendees', { id: 7, consent }, { drop: ['consent'] })).toMatchObject({
      consent: expected,
      fields: { id: 7 },
    });
  });

  it.each([
    [false, 'named'],
    [true, 'anonymous'],
    [undefined, 'anonymous'],
    ['false', 'anonymous'],
    [null, 'anonymous'],
  ])('reads the flag %j as %s, and keeps the person only in a named item', (anonymous, expected) => {
    for (const list of ['poll-mcq-votes', 'poll-quiz-votes', 'qna-questions'] as const) {
      const item = one(list, { ...flagged, attendee: { ...flagged.attendee, anonymous } });
      expect(item).toMatchObject({ visibility: expected, saysAnonymous: expected === 'anonymous' });
      expect(JSON.stringify(item.fields).includes('A7')).toBe(expected === 'named');
    }
  });

  it('treats an item without an attendee object as anonymous in a list that has a flag', () => {
    expect(one('qna-questions', { id: 51, attendeeId: 7 })).toMatchObject({
      visibility: 'anonymous',
      fields: { id: 51 },
    });
  });

  it.each<Row>([{ anonymous: true }, { attendee: { id: 7, anonymous: true } }])(
    'treats an item as anonymous if its row has %j, even in a list that documents no flag',
    (flag) => {
      const item = one('votes', { ...said, ...flag });
      expect(item.visibility).toBe('anonymous');
      expect(item.fields).not.toHaveProperty('attendeeId');
      expect(one('votes', { ...said, anonymous: false }).visibility).toBe('judge');
    },
  );

  it('reads whether a session’s responses are anonymous, if the session says so', () => {
    expect(
      [true, false, null, 'no'].map(
        (anonymousResponses) => one('sessions', { id: 1, anonymousResponses }).saysAnonymous,
      ),
    ).toEqual([true, false, null, null]);
  });

  it('omits and counts rows of a session that was not requested, because the service ignored the filter', () => {
    const rows = [said, { ...said, session: { id: 9 } }, { ...said, session: { id: 9 } }];
    const { items, unidentified, foreign } = read('votes', rows, { sessionId: 1 });
    expect(items.map(({ sessionId }) => sessionId)).toEqual([1]);
    expect({ unidentified, foreign }).toEqual({ unidentified: 0, foreign: 2 });
    expect(read('questions', rows)).toMatchObject({ foreign: 0 }); // a list of all sessions
  });

  it('omits and counts rows of sessions that the pigeonhole is not known to have', () => {
    const rows = [
      said,
      { ...said, session: { id: 9 } },
      { ...said, session: { id: 9 } },
      { ...said, session: null, question: { id: 12 } },
    ];
    const { items, ...counts } = read('questions', rows, { ownSessions: new Set([1]) });
    expect(items.map(({ sessionId }) => sessionId)).toEqual([1, null]);
    expect(counts).toEqual({ unidentified: 0, foreign: 2, strangers: [9] });
    expect(read('questions', rows).foreign).toBe(0);
  });

  it.each([undefined, null, {}])('assigns a row with session %j to no session, regardless of the request', (own) => {
    expect(one('votes', { ...said, session: own }, { sessionId: 1 }).sessionId).toBeNull();
  });

  it.each<[string, ServiceListName, Row]>([
    ['id', 'attendees', { id: '7' }],
    ['id', 'questions', { ...said, question: { id: 2 ** 53 } }],
    ['session', 'questions', { ...said, session: { id: '1' } }],
    ['session', 'poll-mcq-votes', { ...flagged, session: { id: null } }],
    ['question', 'votes', { ...said, question: { id: '11' } }],
    ['attendee', 'votes', { ...said, attendeeId: '7' }],
  ])('omits and counts a row whose %s cannot be used, instead of reading another item: %s', (_, list, row) => {
    expect(read(list, [row])).toMatchObject({ items: [], unidentified: 1 });
  });

  it('counts a row that has the id of another row of the page and other content', () => {
    const rows = [
      { id: 7, Name: 'Ada' },
      { id: 7, Name: 'Grace' },
    ];
    expect(read('attendees', rows).unidentified).toBe(1);
    expect(read('attendees', [rows[0]!, rows[0]!]).unidentified).toBe(0);
  });

  it('removes the dropped fields, but reads key, session, attendee and time from them', () => {
    const item = one('questions', said, { drop: ['createdAt', 'session', 'attendeeId', 'question'] });
    expect(item).toMatchObject({ key: '11', sessionId: 1, attendeeId: 7, at: Date.parse(at), fields: {} });
    expect(item.fields).toEqual({});
  });

  it('reads a creation time if the row has a valid one', () => {
    expect(one('attendees', { id: 7, signInTime: at }).at).toBe(Date.parse(at));
    expect(one('attendees', { id: 7, signInTime: 'soon' }).at).toBeUndefined();
    expect(one('pigeonholes', { id: 101 }).at).toBeUndefined();
  });

  it('omits and counts an empty row, in any list', () => {
    for (const list of [...workspaceLists, ...pigeonholeLists]) expect(read(list, [{}]).unidentified).toBe(1);
  });

  it('omits a row that is nested too deeply, and keeps the next row', () => {
    const deep = JSON.parse(`{"id":1,"x":${'['.repeat(5000)}${']'.repeat(5000)}}`) as Record<string, unknown>;
    expect(read('attendees', [deep, { id: 2 }])).toMatchObject({ items: [{ key: '2' }], unidentified: 1 });
  });
});
