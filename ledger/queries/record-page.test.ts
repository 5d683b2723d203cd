import { kinds, useBothDatabases } from '../drivers/both-databases.test-kit.js';
import type { Database } from '../drivers/database.js';
import { type Ledger, openLedger } from '../ledger.js';
import { readingRules } from '../reading-rules.js';
import type { SeenItem } from '../seen-item.js';
import type { OpenWalk } from './walk.js';
import { refOf } from './pigeonholes.js';
import { type PageRecord, recordPage } from './record-page.js';
import { dueStreams, ensureStreams, type StreamLease, takeStream } from './streams.js';

const databases = useBothDatabases();

describe.each(kinds)('a page that is recorded on %s', (kind) => {
  let db: Database;
  let ledger: Ledger;
  let lease: StreamLease;
  let pigeonholeId = 100;

  beforeAll(async () => {
    db = databases.of(kind);
    ledger = await openLedger(db);
  });
  beforeEach(async () => {
    const ref = await refOf(ledger, 'acme', (pigeonholeId += 1));
    await ensureStreams(ledger, ref, [{ list: 'attendees', sessionId: 0 }]);
    const [stream] = (await dueStreams(ledger, ref)).due;
    lease = await takeStream(ledger, stream!.id, 'test');
  });

  const record = async (ids: readonly number[], more: Partial<PageRecord> = {}) =>
    recordPage(ledger, lease, {
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
      isNew: false,
      sinkIds: [],
      ...more,
    });
  const stored = async (): Promise<object[]> =>
    db.query(
      `select i.key, i.revision, c.sequence from items i join changes c on c.ref = i.ref and c.key = i.key
       where i.ref = $1 order by c.sequence`,
      [lease.ref],
    );

  it('stores its items once, in its order, whether they are compared or taken for new', async () => {
    expect(await record([3, 1, 2], { isNew: true })).toMatchObject({ created: 3, updated: 0 });
    expect(await record([3, 1, 2])).toMatchObject({ created: 0, updated: 0 });
    expect(await record([1, 4, 2])).toMatchObject({ created: 1, updated: 0 });
    expect(await stored()).toEqual([
      { key: '3', revision: 1, sequence: 1 },
      { key: '1', revision: 1, sequence: 2 },
      { key: '2', revision: 1, sequence: 3 },
      { key: '4', revision: 1, sequence: 4 },
    ]);
  });

  it('is compared all the same when it was taken for new and is not', async () => {
    await record([1, 2]);
    expect(await record([2, 3], { isNew: true })).toMatchObject({ created: 1, updated: 0 });
    expect(await stored()).toHaveLength(3);
  });

  it('says that its items can be written while the store is at work, and not before it is locked', async () => {
    const told: string[] = [];
    await record([1], { onWriting: () => told.push('writing') });
    expect(told).toEqual(['writing']);
    await takeStream(ledger, lease.streamId, 'a newer reader');
    await expect(record([2], { onWriting: () => told.push('stale') })).rejects.toMatchObject({
      kind: 'stale',
    });
    expect(told).toEqual(['writing']);
  });

  it('leaves behind the highest id that its stream ever stored', async () => {
    await record([5, 9]);
    await record([7]);
    await record([8], { highestId: null });
    expect((await takeStream(ledger, lease.streamId, 'test')).highestId).toBe(9);
  });
});

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
