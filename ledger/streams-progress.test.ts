import { forgetEverything } from '../test/kit/forget-everything.js';
import { useConfiguration } from './configurations.js';
import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import { type Ledger, openLedger } from './ledger.js';
import { testKey } from './ledger-key.test-kit.js';
import { addSelections, archiveSelections, pigeonholeNumberOf, registerSyncs } from './pigeonholes.js';
import { assignReaders, type ReaderLease, readerNumbers, takeReader } from './readers.js';
import { acquireStreams, ensureStreams, wantedStreams } from './streams.js';
import { type StreamProgress, writeProgress } from './streams-progress.js';

const databases = useBothDatabases();
const minuteMs = 60_000;

describe.each(kinds)('a stay with a group whose pigeonholes it reads, on %s', (kind) => {
  let ledger: Ledger;
  let configuration: number;
  let pigeonholeNumber: number;
  let number: number;
  let streamId: number;

  beforeEach(async () => {
    await forgetEverything(databases.of(kind));
    ledger = await openLedger(databases.of(kind), testKey);
    configuration = await useConfiguration(ledger, {}, true);
    await registerSyncs(ledger, [{ name: 'events', workspace: 'acme', choice: '{}' }]);
    await select();
    pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', 1);
    [number] = (await readerNumbers(ledger)) as [number];
    await ensureStreams(ledger, pigeonholeNumber, [{ list: 'attendees', sessionId: 0 }]);
    streamId = (await wantedStreams(ledger, pigeonholeNumber))[0]!.id;
  });

  async function select(): Promise<void> {
    await addSelections(ledger, { sync: 'events', workspace: 'acme', configuration }, [1]);
    await assignReaders(ledger);
  }

  const take = async (owner: string): Promise<ReaderLease> => (await takeReader(ledger, number, owner))!;

  async function acquire(fence: ReaderLease): Promise<number> {
    const [lease] = await acquireStreams(ledger, [streamId], fence);
    return lease!.epoch;
  }

  /** The progress of a read that ended now. */
  async function progress(epoch: number, more: Partial<StreamProgress> = {}): Promise<StreamProgress> {
    const [{ now }] = (await ledger.db.query<{ now: Date }>('select clock_timestamp() as now')) as [{ now: Date }];
    const dueAt = new Date(now.getTime() + minuteMs);
    const read = { everyMs: minuteMs, reason: 'live', wantedMs: minuteMs, quietReads: 7, swept: null };
    return { streamId, epoch, polledAt: now, dueAt, askedAfter: now, ...read, ...more };
  }

  const state = async (): Promise<object[]> =>
    ledger.db.query('select epoch, due_at, polled_at, quiet_reads from streams');

  it('stores the progress of a stream that it has acquired', async () => {
    const fence = await take('first');
    const row = await progress(await acquire(fence));
    expect(await writeProgress(ledger.db, fence, [row])).toEqual([]);
    expect(await state()).toMatchObject([{ due_at: row.dueAt, polled_at: row.polledAt, quiet_reads: 7 }]);
  });

  it('stores no progress after another stay has taken the group, even of streams that are still its own', async () => {
    const first = await take('first');
    const epoch = await acquire(first);
    await take('second');
    const before = await state();
    expect(await writeProgress(ledger.db, first, [await progress(epoch)])).toEqual([streamId]);
    expect(await state()).toEqual(before);
  });

  it('stores no progress of a stream that another stay has acquired, even without the fence of a group', async () => {
    const epoch = await acquire(await take('first'));
    await acquire(await take('second'));
    const before = await state();
    expect(await writeProgress(ledger.db, null, [await progress(epoch)])).toEqual([streamId]);
    expect(await state()).toEqual(before);
  });

  it('acquires no stream after another stay has taken the group', async () => {
    const first = await take('first');
    await take('second');
    const before = await state();
    await expect(acquire(first)).rejects.toMatchObject({ kind: 'stale' });
    expect(await state()).toEqual(before);
  });

  it('acquires no stream of a pigeonhole that has left the group, so that it does not take it from another group', async () => {
    const fence = await take('first');
    await archiveSelections(ledger, 'events', [pigeonholeNumber]);
    await assignReaders(ledger);
    const before = await state();
    await expect(acquire(fence)).rejects.toMatchObject({ kind: 'stale' });
    expect(await state()).toEqual(before);
    await select();
    expect(await acquire(fence)).toBe(1);
  });

  it('keeps a due time that was requested after the read had started', async () => {
    const fence = await take('first');
    const epoch = await acquire(fence);
    await ledger.db.query('update streams set due_at = clock_timestamp()');
    const [requested] = await state();
    const startedAt = new Date((requested as { due_at: Date }).due_at.getTime() - 1000);
    expect(await writeProgress(ledger.db, fence, [await progress(epoch, { askedAfter: startedAt })])).toEqual([]);
    expect(await state()).toMatchObject([{ due_at: (requested as { due_at: Date }).due_at, quiet_reads: 7 }]);
  });
});
