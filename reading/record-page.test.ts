import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import type { Database } from '../ledger/drivers/database.js';
import { readingRules } from '../ledger/item-form.js';
import { type Ledger, openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import type { SeenItem } from '../ledger/seen-item.js';
import type { OpenWalk, PageSummary } from '../ledger/walk.js';
import { pigeonholeNumberOf } from '../ledger/pigeonholes.js';
import { type PageRecord, recordPage } from './record-page.js';
import { wantedStreams, ensureStreams, type StreamLease, acquireStreams } from '../ledger/streams.js';

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
    const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', (pigeonholeId += 1));
    await ensureStreams(ledger, pigeonholeNumber, [{ list: 'attendees', sessionId: 0 }]);
    const [stream] = await wantedStreams(ledger, pigeonholeNumber);
    lease = (await acquireStreams(ledger, [stream!.id], null))[0]!;
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
      highestId: ids.length === 0 ? null : Math.max(...ids),
      sinks: [],
      ...more,
    });
  const stored = async (): Promise<object[]> =>
    db.query(
      `select i.key, i.revision, c.sequence from items i join changes c on c.pigeonhole_number = i.pigeonhole_number
         and c.key = i.key
       where i.pigeonhole_number = $1 order by c.sequence`,
      [lease.pigeonholeNumber],
    );

  it('stores its items once, in their order', async () => {
    expect(await record([3, 1, 2])).toMatchObject({ created: 3, updated: 0 });
    expect(await record([3, 1, 2])).toMatchObject({ created: 0, updated: 0 });
    expect(await record([1, 4, 2])).toMatchObject({ created: 1, updated: 0 });
    expect(await stored()).toEqual([
      { key: '3', revision: 1, sequence: 1 },
      { key: '1', revision: 1, sequence: 2 },
      { key: '2', revision: 1, sequence: 3 },
      { key: '4', revision: 1, sequence: 4 },
    ]);
  });

  it('stores nothing if it equals a page that was replaced meanwhile', async () => {
    const swept = { ordinal: 0, cursor: null, digest: Buffer.from('one'), summary };
    await record([1], { swept });
    expect(await record([], { items: null, swept })).toMatchObject({ created: 0, updated: 0 });
    await record([1, 2], { swept: { ...swept, digest: Buffer.from('two') } });
    expect(await record([], { items: null, swept })).toBe('differs');
  });

  it('is refused if another reader has taken over the stream', async () => {
    await acquireStreams(ledger, [lease.streamId], null);
    await expect(record([2])).rejects.toMatchObject({ kind: 'stale' });
  });

  it('keeps the highest id that its stream ever stored', async () => {
    await record([5, 9]);
    await record([7]);
    await record([8], { highestId: null });
    expect((await acquireStreams(ledger, [lease.streamId], null))[0]!.highestId).toBe(9);
  });
});

const summary: PageSummary = {
  count: 1,
  firstValue: 1,
  lastValue: 1,
  low: 1,
  high: 1,
  direction: null,
  lastKey: '1',
  newestAt: null,
  setAside: 0,
  foreign: 0,
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
