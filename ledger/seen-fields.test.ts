import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import { type Ledger, openLedger } from './ledger.js';
import { testKey } from './ledger-key.test-kit.js';
import { pigeonholeNumberOf } from './pigeonholes.js';
import { seenFields, type SeenFields } from './seen-fields.js';

const databases = useBothDatabases();

describe.each(kinds)('the fields seen in a ledger on %s', (kind) => {
  let ledger: Ledger;
  beforeAll(async () => {
    ledger = await openLedger(databases.of(kind), testKey);
  });
  afterEach(() => ledger.db.query('delete from items'));

  async function store(pigeonholeId: number, list: string, items: readonly unknown[]): Promise<void> {
    const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', pigeonholeId);
    await ledger.db.query(
      `insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, payload, rules, seen_at,
         last_sequence)
       select $1, $2, n.n::text, 1, 1, '\\x00', n.payload, '', now(), 1
       from unnest($3::json[]) with ordinality as n (payload, n)`,
      [pigeonholeNumber, list, items.map((item) => (item === null ? null : JSON.stringify(item)))],
    );
  }
  const seen = (list: string, pigeonholeId: number | null = null): Promise<SeenFields[]> =>
    seenFields(ledger, { list, workspace: null, pigeonholeId });
  const fieldOf = ([place]: readonly SeenFields[], name: string): unknown =>
    place!.fields.find(({ field, member }) => (member === null ? field : `${field}.${member}`) === name);

  it('are listed by pigeonhole, with the number of items that have them and the number with a value', async () => {
    await store(101, 'attendees', [
      { id: 1, Email: 'a@example.com' },
      { id: 2, Email: '' },
      { id: 3, Email: '  ' },
      { id: 4, Email: null },
      { id: 5 },
      null, // a deleted item
    ]);
    await store(102, 'attendees', [{ id: 1, 'E-mail': 'b@example.com' }]);
    const found = await seen('attendees');
    expect(found.map(({ workspace, pigeonholeId, items }) => [workspace, pigeonholeId, items])).toEqual([
      ['acme', 101, 5],
      ['acme', 102, 1],
    ]);
    expect(fieldOf(found, 'Email')).toEqual({
      field: 'Email',
      member: null,
      types: { string: 3, null: 1 },
      filled: 1,
      values: null,
    });
    expect(found[1]!.fields.map(({ field }) => field)).toEqual(['E-mail', 'id']);
    expect((await seen('attendees', 102)).map(({ pigeonholeId }) => pigeonholeId)).toEqual([102]);
    expect(await seen('votes')).toEqual([]);
  });

  it('are listed with their JSON types and the members of objects', async () => {
    await store(101, 'attendees', [
      { id: 1, linkedIn: { url: 'x' }, tags: ['a'], vip: true },
      { id: 2, linkedIn: null, vip: false },
    ]);
    const found = await seen('attendees');
    expect(fieldOf(found, 'linkedIn')).toMatchObject({ types: { object: 1, null: 1 }, filled: 1 });
    expect(fieldOf(found, 'linkedIn.url')).toMatchObject({ types: { string: 1 }, filled: 1, values: null });
    expect(fieldOf(found, 'tags')).toMatchObject({ types: { array: 1 } });
    expect(fieldOf(found, 'vip')).toMatchObject({ types: { boolean: 2 }, values: null });
  });

  it('show the values of statuses and types, but of no other text', async () => {
    await store(101, 'questions', [
      { question: { id: 1, content: 'same', status: 'approved' }, session: { id: 5, name: 'same', type: 'qna' } },
      { question: { id: 2, content: 'same', status: 'approved' }, session: { id: 5, name: 'same', type: 'qna' } },
      { question: { id: 3, content: 'same', status: 'hidden' }, session: { id: 5, name: 'same', type: 'qna' } },
    ]);
    const [place] = await seen('questions');
    expect(fieldOf([place!], 'question.status')).toMatchObject({ values: { approved: 2, hidden: 1 } });
    expect(fieldOf([place!], 'session.type')).toMatchObject({ values: { qna: 3 } });
    expect(JSON.stringify(place)).not.toContain('same');
  });

  it('show boolean values, but in lists of people only those of consent', async () => {
    await store(101, 'sessions', [{ id: 1, anonymousResponses: true }]);
    await store(101, 'attendees', [{ id: 1, vegan: true, consent: { obtained: true, obtainedAt: 'then' } }]);
    expect(fieldOf(await seen('sessions'), 'anonymousResponses')).toMatchObject({ values: { true: 1 } });
    const people = await seen('attendees');
    expect(people[0]!.fields.filter(({ values }) => values !== null)).toMatchObject([
      { field: 'consent', member: 'obtained', values: { true: 1 } },
    ]);
  });

  it('show no text of a person, whatever the fields are called', async () => {
    await store(101, 'attendees', [
      { id: 1, status: 'PERSONAL', type: 'PERSONAL', consent: { obtainedAt: 'PERSONAL' } },
    ]);
    expect(JSON.stringify(await seen('attendees'))).not.toContain('PERSONAL');
  });

  it('show no values of a status with too many different values', async () => {
    await store(
      101,
      'qna-questions',
      Array.from({ length: 13 }, (_, n) => ({ id: n, status: `s${n}` })),
    );
    expect(fieldOf(await seen('qna-questions'), 'status')).toMatchObject({ filled: 13, values: null });
  });

  it('are found even if a text contains characters that PostgreSQL cannot unescape', async () => {
    await store(101, 'answers', [
      { id: 1, 'a\u0000b': 'nul \u0000', half: '\ud83d', written: '\\u0000 \\ud800', 'naïve 😀': 1 },
    ]);
    const [place] = await seen('answers');
    expect(place!.fields.map(({ field }) => field).toSorted()).toEqual(
      ['a\ufffdb', 'half', 'id', 'naïve 😀', 'written'].toSorted(),
    );
  });
});
