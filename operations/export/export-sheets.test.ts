import { readWorkbook, type ReadSheet } from '../../base/sheets/read-workbook.test-kit.js';
import { attendee, pollVote, qnaQuestion, question, session } from '../../test/kit/items.js';
import { kinds, useBothDatabases } from '../../ledger/drivers/both-databases.test-kit.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
import { exportedPlace } from './exported-place.js';
import type { SheetName } from '../../base/sheets/sheet-names.js';
import { type ExportRequest, shownByDefault, writeExport } from './export-sheets.js';

const databases = useBothDatabases();

interface Stored {
  readonly list: string;
  readonly key: string | number;
  readonly payload: unknown;
  readonly visibility?: 'named' | 'anonymous' | 'unknown';
  readonly attendeeId?: number;
  readonly sessionId?: number;
  readonly consent?: string;
  readonly saysAnonymous?: boolean;
  readonly state?: 'expired' | 'erased';
}

/** An attendee with unmistakable values; no export may contain them where the person is not shown. */
const marked = {
  id: 77_001_177,
  attendeeCode: 'CODE-NEVER-SHOWN',
  Name: 'Nadia Nowhere',
  Email: 'nadia@never.example',
};
const marks = [String(marked.id), marked.attendeeCode, marked.Name, marked.Email];

describe.each(kinds)('an export from a ledger on %s', (kind) => {
  let ledger: Ledger;
  beforeAll(async () => {
    ledger = await openLedger(databases.of(kind), testKey);
  });
  afterEach(() => ledger.db.query('delete from items'));

  async function store(pigeonholeId: number, ...items: readonly Stored[]): Promise<void> {
    const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', pigeonholeId);
    for (const { list, key, payload, visibility, attendeeId, sessionId, consent, saysAnonymous, state } of items) {
      await ledger.db.query(
        `insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, payload, rules, seen_at, last_sequence,
           visibility, attendee_id, session_id, consent, says_anonymous, expired, erased)
         values ($1, $2, $3, 1, 1, '\\x00', $4, '', '2026-11-21T08:00:00Z', 1, $5, $6, $7, $8, $9, $10, $11)`,
        [
          pigeonholeNumber,
          list,
          String(key),
          state === 'erased' ? null : JSON.stringify(payload),
          visibility ?? null,
          attendeeId ?? null,
          sessionId ?? null,
          consent ?? null,
          saysAnonymous ?? null,
          state === 'expired',
          state === 'erased',
        ],
      );
    }
  }

  async function request(sheets: readonly SheetName[], more: Partial<ExportRequest> = {}): Promise<ExportRequest> {
    const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', 101);
    const place = await exportedPlace(ledger, { pigeonholeNumber, workspace: 'acme', pigeonholeId: 101 });
    return { place, sheets, format: 'xlsx', personal: true, accepts: shownByDefault, ...more };
  }

  async function exported(sheets: readonly SheetName[], more: Partial<ExportRequest> = {}): Promise<ReadSheet[]> {
    const parts = writeExport({ ledger, config: { syncs: {} } }, await request(sheets, more));
    return await readWorkbook(parts as AsyncIterable<Uint8Array>);
  }

  /** Returns the rows of a list as objects by header. */
  async function rowsOf(list: SheetName, more: Partial<ExportRequest> = {}): Promise<Record<string, unknown>[]> {
    const [sheet] = await exported([list], more);
    const [header, ...rows] = sheet!.rows as [string[], ...unknown[][]];
    return rows.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index] ?? null])));
  }

  const named = { visibility: 'named', attendeeId: 5, sessionId: 1 } as const;
  const openSession = { list: 'sessions', key: 1, payload: session(1), saysAnonymous: false } as const;

  it('has a column for each documented field and each profile field, with types, in the time zone of the event', async () => {
    await store(0, { list: 'pigeonholes', key: 101, payload: { id: 101, timezone: 'America/New_York' } });
    await store(101, { list: 'attendees', key: 5, payload: { ...attendee(5), Company: '=Acme' }, consent: 'obtained' });
    await store(101, { list: 'attendees', key: 6, payload: { id: 6, consent: null }, consent: 'not-asked' });
    const [row, other] = await rowsOf('attendees');
    expect(other).not.toHaveProperty('consent'); // its members have columns
    expect(row).toMatchObject({
      id: { number: 5 },
      attendeeCode: 'code-5',
      Name: 'Person 5',
      Company: '=Acme',
      registrantId: { number: 1005 },
      'signInTime (America/New_York)': { days: 46347 + 3 / 24 }, // 08:00 UTC
      'consent.obtained': true,
      'linkedIn.url': null,
      'item.key': '5',
      'item.state': 'present',
      'item.consent': 'obtained',
    });
    expect(Object.keys(row!).slice(0, 5)).toEqual(['id', 'attendeeCode', 'Name', 'Email', 'Company']);
  });

  it('shows who asked beside each question, also their profile', async () => {
    await store(
      101,
      openSession,
      { list: 'attendees', key: 5, payload: attendee(5), consent: 'obtained' },
      { list: 'qna-questions', key: 11, payload: qnaQuestion(11, { id: 5 }, 1), ...named },
      { list: 'questions', key: 11, payload: question(11, 5, 1), ...named },
    );
    for (const list of ['questions', 'qna-questions'] as const) {
      expect(await rowsOf(list)).toEqual([
        expect.objectContaining({
          'attendee.attendeeCode': 'code-5',
          'attendee.Name': 'Person 5',
          'item.author': 'named',
          'item.consent': 'obtained',
        }),
      ]);
    }
  });

  it('never contains an author who is anonymous, whose session has become anonymous, or whose record is not known', async () => {
    const nobody = { visibility: 'anonymous', sessionId: 1 } as const;
    const extra = { attendeeName: marked.Name, nested: { userEmail: marked.Email } };
    const who = { id: marked.id, attendeeCode: marked.attendeeCode };
    await store(
      101,
      { ...openSession, saysAnonymous: true },
      { list: 'questions', key: 11, payload: question(11, marked.id, 1, extra), ...nobody },
      { list: 'questions', key: 12, payload: question(12, marked.id, 1, extra), ...named, attendeeId: marked.id },
      { list: 'votes', key: 'x', payload: question(12, marked.id, 1, extra), ...nobody, visibility: 'unknown' },
      { list: 'poll-mcq-votes', key: 51, payload: pollVote(51, who, 1, extra), ...named, attendeeId: marked.id },
      { list: 'qna-questions', key: 11, payload: qnaQuestion(11, { ...who, anonymous: true }, 1, extra), ...nobody },
    );
    const found = await exported(['questions', 'votes', 'poll-mcq-votes', 'qna-questions']);
    const text = JSON.stringify(found);
    for (const mark of marks) expect(text).not.toContain(mark);
    expect(text).not.toContain('attendeeName'); // not even as the name of a column
    expect(found.map(({ rows }) => rows.length)).toEqual([3, 2, 2, 2]);
    for (const row of await rowsOf('questions')) {
      expect(row).toMatchObject({
        'item.author': 'anonymous',
        attendeeId: null,
        'question.id': { number: expect.any(Number) as number },
      });
    }
  });

  it('shows people who refused consent only as withheld records, and their questions without them', async () => {
    await store(
      101,
      openSession,
      { list: 'attendees', key: 'the key', payload: marked, consent: 'refused' },
      { list: 'attendees', key: marked.id, payload: marked, consent: 'refused' },
      {
        list: 'registrants',
        key: 'r',
        payload: { ...marked, id: undefined },
        consent: 'refused',
        attendeeId: marked.id,
      },
      {
        list: 'engagement',
        key: 'e',
        payload: { scope: 'pigeonhole', attendeeId: marked.id, asked: 1 },
        attendeeId: marked.id,
      },
      { list: 'questions', key: 11, payload: question(11, marked.id, 1), ...named, attendeeId: marked.id },
    );
    await ledger.db.query(`delete from items where list = 'attendees' and key = 'the key'`);
    const lists = ['attendees', 'registrants', 'engagement', 'questions'] as const;
    const text = JSON.stringify(await exported(lists)).replaceAll(`"${marked.id}"`, '"its own key"');
    for (const mark of marks) expect(text).not.toContain(mark);
    expect(await rowsOf('registrants')).toEqual([
      expect.objectContaining({ 'item.state': 'withheld', attendeeCode: null, 'item.consent': 'refused' }),
    ]);
    expect(await rowsOf('questions')).toEqual([expect.objectContaining({ 'item.author': 'anonymous' })]);
    const accepts = new Set(['obtained', 'refused', 'not-asked', 'not-known'] as const);
    expect(await rowsOf('attendees', { accepts })).toEqual([expect.objectContaining({ Name: marked.Name })]);
  });

  it('leaves out deleted and erased items, and the data of expired ones', async () => {
    await store(
      101,
      { list: 'attendees', key: 1, payload: attendee(1), consent: 'obtained' },
      { list: 'attendees', key: 2, payload: null, consent: 'obtained', state: 'erased' },
      { list: 'attendees', key: 3, payload: marked, consent: 'obtained', state: 'expired' },
      { list: 'questions', key: 11, payload: question(11, 3, 1), ...named, attendeeId: 3 },
      openSession,
    );
    expect((await rowsOf('attendees')).map((row) => [row['item.key'], row['item.state'], row['Name']])).toEqual([
      ['1', 'present', 'Person 1'],
      ['3', 'expired', null],
    ]);
    expect(JSON.stringify(await exported(['attendees', 'questions']))).not.toContain(marked.Name);
  });

  it('without personal data has only keys and states', async () => {
    await store(101, openSession, { list: 'attendees', key: 5, payload: attendee(5), consent: 'obtained' });
    const [sheet] = await exported(['attendees'], { personal: false });
    expect(sheet!.rows).toEqual([
      ['item.key', 'item.revision', 'item.state', 'item.consent', 'item.changedAt (UTC)'],
      ['5', { number: 1 }, 'present', 'obtained', { days: 46347 + 8 / 24 }],
    ]);
  });

  it('names the session and the person of each engagement', async () => {
    const counts = { scope: 'session', attendeeId: 5, sessionId: 1, interactions: 3, evidence: ['votes:a', 'votes:b'] };
    await store(
      101,
      openSession,
      { list: 'attendees', key: 5, payload: attendee(5), consent: 'not-asked' },
      { list: 'engagement', key: 'e', payload: counts, attendeeId: 5 },
    );
    expect(await rowsOf('engagement')).toEqual([
      expect.objectContaining({
        scope: 'session',
        'session.name': 'Session 1',
        'attendee.Name': 'Person 5',
        interactions: { number: 3 },
        evidence: '["votes:a","votes:b"]',
      }),
    ]);
  });

  it('keeps fields of any name and any number, each in a column of its own or in the last one', async () => {
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`field ${n}`, `value ${n}`]));
    await store(101, {
      list: 'attendees',
      key: 1,
      payload: { ...many, 'item.key': 'mine', ['__proto__']: 'kept', nested: { deep: { er: 1 } } },
      consent: 'obtained',
    });
    const [row] = await rowsOf('attendees');
    expect(row).toMatchObject({ 'field 0': 'value 0' });
    const rest = JSON.parse(row!['other fields'] as string) as Record<string, unknown>;
    const all = { ...row, ...rest };
    for (const [name, value] of Object.entries(many)) expect(all).toHaveProperty([name], value);
    expect(JSON.stringify(all)).toContain('mine');
    expect(JSON.stringify(all)).toContain('kept');
  });

  it('of a long list holds one batch of items at a time, in the order of their keys', async () => {
    const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', 101);
    await ledger.db.query(
      `insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, payload, rules, seen_at, last_sequence, consent)
       select $1, 'attendees', lpad(n::text, 6, '0'), 1, 1, '\\x00', json_build_object('id', n, 'Name', 'Person ' || n), '', now(), 1, 'obtained'
       from generate_series(1, 1500) n`,
      [pigeonholeNumber],
    );
    const statements: number[] = [];
    const counting = {
      ...ledger,
      db: {
        query: async (...asked: Parameters<Ledger['db']['query']>) => {
          const rows = await ledger.db.query(...asked);
          if (asked[0].includes('from items i')) statements.push(rows.length);
          return rows;
        },
      },
    } as Ledger;
    const parts = writeExport(
      { ledger: counting, config: { syncs: {} } },
      await request(['attendees'], { format: 'csv' }),
    );
    await parts.next();
    expect(statements.splice(0)).toEqual([500, 500, 500, 0]); // the names of the columns
    await parts.next();
    expect(statements.splice(0)).toEqual([500]);
    const lines: string[] = [];
    for await (const part of parts) lines.push(...String(part).trim().split('\r\n'));
    expect(lines).toHaveLength(1000);
    expect(lines.map((line) => /"(\d{6})"|'(\d{6})/.exec(line)?.slice(1).join('') ?? line)).toEqual(
      Array.from({ length: 1000 }, (_, n) => String(n + 501).padStart(6, '0')),
    );
  });
});
