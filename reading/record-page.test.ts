import { randomUUID } from 'node:crypto';
import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import type { Database } from '../ledger/drivers/database.js';
import { hashedForm, readingRules } from '../ledger/item-form.js';
import { type Ledger, openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import type { SeenItem } from '../ledger/seen-item.js';
import { requestErasure } from '../people/erasure-states.js';
import type { OpenWalk } from '../ledger/walk.js';
import { prepareNewItems } from '../ledger/new-items.js';
import { refOf } from '../ledger/pigeonholes.js';
import { type PageRecord, recordPage } from './record-page.js';
import { dueStreams, ensureStreams, type StreamLease, acquireStream } from '../ledger/streams.js';

const databases = useBothDatabases();

describe.each(kinds)('a page recorded on %s', (kind) => {
  let db: Database;
  let ledger: Ledger;
  let lease: StreamLease;
  let pigeonholeId = 100;

  beforeAll(async () => {
    db = databases.of(kind);
    ledger = await openLedger(db, testKey);
  });
  beforeEach(async () => {
    const ref = await refOf(ledger, 'acme', (pigeonholeId += 1));
    await ensureStreams(ledger, ref, [{ list: 'attendees', sessionId: 0 }]);
    const [stream] = (await dueStreams(ledger, ref)).due;
    lease = await acquireStream(ledger, stream!.id, 'test');
  });

  const record = async (ids: readonly number[], more: Partial<PageRecord> = {}) =>
    recordPage(ledger, lease, {
      doubtIfNew: null,
      items: ids.map(attendee),
      requestedAt: new Date(),
      requestId: 'request-1',
      readAs: 'poll, page 1',
      rules: readingRules([]),
      walk: progress,
      end: null,
      swept: null,
      perPage: 300,
      highestId: Math.max(...ids),
      sinkIds: [],
      ...more,
    });
  const stored = async (): Promise<object[]> =>
    db.query(
      `select i.key, i.revision, c.sequence from items i join changes c on c.ref = i.ref and c.key = i.key
       where i.ref = $1 order by c.sequence`,
      [lease.ref],
    );

  it('stores its items once, in their order, whether they are compared or were prepared as new', async () => {
    const items = [3, 1, 2].map((id) => {
      const item = attendee(id);
      return { ...item, hashed: hashedForm(ledger.hash, 'attendees', item.fields, null) };
    });
    const place = { workspace: 'acme', pigeonholeId, list: 'attendees' };
    const prepared = prepareNewItems(ledger, place, items, readingRules([]));
    expect(await record([], { items, highestId: 3, prepared })).toMatchObject({ created: 3, updated: 0 });
    expect(await record([3, 1, 2])).toMatchObject({ created: 0, updated: 0 });
    expect(await record([1, 4, 2])).toMatchObject({ created: 1, updated: 0 });
    expect(await stored()).toEqual([
      { key: '3', revision: 1, sequence: 1 },
      { key: '1', revision: 1, sequence: 2 },
      { key: '2', revision: 1, sequence: 3 },
      { key: '4', revision: 1, sequence: 4 },
    ]);
  });

  it('stores no item of a person who was forgotten after the items were prepared', async () => {
    const items = [1, 2].map((id) => ({ ...attendee(id), attendeeId: id }));
    const hashed = items.map((item) => ({ ...item, hashed: hashedForm(ledger.hash, 'attendees', item.fields, null) }));
    const workspace = `forgets-${kind}`;
    const ref = await refOf(ledger, workspace, (pigeonholeId += 1));
    await ensureStreams(ledger, ref, [{ list: 'attendees', sessionId: 0 }]);
    lease = await acquireStream(ledger, (await dueStreams(ledger, ref)).due[0]!.id, 'test');
    const place = { workspace, pigeonholeId, list: 'attendees' };
    const prepared = prepareNewItems(ledger, place, hashed, readingRules([]));
    const places = [{ ref, workspace, pigeonholeId, attendeeIds: [1], codes: [] }];
    await requestErasure(ledger, {
      id: randomUUID(),
      names: { asked: '1', places },
      by: null,
      reason: null,
      sharing: 0,
    });
    expect(prepared?.count).toBe(2);
    expect(await record([], { items: hashed, highestId: 2, prepared })).toMatchObject({ created: 1 });
    expect(await stored()).toEqual([{ key: '2', revision: 1, sequence: 1 }]);
  });

  it('stores prepared items exactly like other items', async () => {
    // Every column has a value in at least one row, so that no column is equal only because it is always empty.
    const items = [3, 1, 2, 1].map((id, index) => ({ ...attendee(id), ...(index === 0 ? filled : {}) }));
    const hashed = items.map((item, index) => ({
      ...item,
      hashed: hashedForm(ledger.hash, 'attendees', item.fields, index === 0 ? 'named' : null),
    }));
    const records: object[] = [];
    for (const isPrepared of [false, true]) {
      const ref = await refOf(ledger, `twin-${kind}`, (pigeonholeId += 1));
      await ensureStreams(ledger, ref, [{ list: 'attendees', sessionId: 0 }]);
      lease = await acquireStream(ledger, (await dueStreams(ledger, ref)).due[0]!.id, 'test');
      const place = { workspace: `twin-${kind}`, pigeonholeId, list: 'attendees' };
      const prepared = isPrepared ? prepareNewItems(ledger, place, hashed, readingRules([])) : undefined;
      expect(prepared === undefined).toBe(!isPrepared);
      await record([], { items: hashed, highestId: 3, prepared });
      records.push(await everyColumn());
    }
    expect(records[1]).toEqual(records[0]);
    expect(records[0]).toMatchObject([{ key: '3' }, { key: '1' }, { key: '2' }]);
  });

  it('is compared with the ledger if one of its prepared items already exists', async () => {
    const items = [2, 3].map((id) => ({ ...attendee(id), hashed: hashedForm(ledger.hash, 'attendees', { id }, null) }));
    const place = { workspace: 'acme', pigeonholeId, list: 'attendees' };
    await record([1, 2]);
    const prepared = prepareNewItems(ledger, place, items, readingRules([]));
    expect(await record([], { items, highestId: 3, prepared })).toMatchObject({ created: 1, updated: 1 });
    expect(await stored()).toHaveLength(4);
  });

  it('does not prepare items whose visibility the ledger must judge', () => {
    const place = { workspace: 'acme', pigeonholeId, list: 'questions' };
    const items: SeenItem[] = [{ ...attendee(1), visibility: 'judge' }];
    expect(prepareNewItems(ledger, place, items, readingRules([]))).toBeUndefined();
  });

  /** Returns the stored rows without ids and instants, which differ between pigeonholes and runs. */
  const everyColumn = async (): Promise<object[]> =>
    db.query(
      `select i.key, i.session_id, i.revision, i.content_hash, i.copies_hash, i.payload::text, i.rules, i.visibility,
         i.attendee_id, i.subject, i.says_anonymous, i.consent, i.origin, i.last_sequence, c.revision as changed, c.kind,
         c.session_id as changed_in, c.visibility as shown, c.previous_sequence, c.request_id, c.read_as, s.item_order
       from items i join changes c on c.ref = i.ref and c.key = i.key and c.sequence = i.last_sequence
         join streams s on s.id = i.stream_id
       where i.ref = $1 order by c.sequence`,
      [lease.ref],
    );

  it('calls onWriting while the transaction runs, but not if its lease is stale', async () => {
    const told: string[] = [];
    await record([1], { onWriting: () => told.push('writing') });
    expect(told).toEqual(['writing']);
    await acquireStream(ledger, lease.streamId, 'a newer reader');
    await expect(record([2], { onWriting: () => told.push('stale') })).rejects.toMatchObject({
      kind: 'stale',
    });
    expect(told).toEqual(['writing']);
  });

  it('keeps the highest id that its stream ever stored', async () => {
    await record([5, 9]);
    await record([7]);
    await record([8], { highestId: null });
    expect((await acquireStream(ledger, lease.streamId, 'test')).highestId).toBe(9);
  });
});

const filled: Partial<SeenItem> = {
  sessionId: 7,
  saysAnonymous: false,
  visibility: 'named',
  origin: Buffer.from('o'),
};

const progress: OpenWalk = {
  kind: 'sweep',
  number: 1,
  startedAt: new Date(),
  firstAt: new Date(),
  cursor: null,
  checkpoint: null,
  checkpointKey: null,
  direction: null,
  pageFirst: null,
  pageLast: null,
  through: true,
  untilId: null,
  topId: null,
  differs: false,
  pages: 1,
  items: 1,
  setAside: 0,
  foreign: 0,
};

function attendee(id: number): SeenItem {
  return {
    key: String(id),
    sessionId: null,
    attendeeId: id,
    saysAnonymous: null,
    consent: 'obtained',
    visibility: null,
    fields: { id, Name: `person ${id}` },
  };
}
