import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import { type Ledger, openLedger } from './ledger.js';
import { testKey } from './ledger-key.test-kit.js';
import { consentStates } from './seen-item.js';
import { type Batch, finishBatch, startBatch } from '../delivering/commit-batch.js';
import { changesToRecover } from '../delivering/recover-batch.js';
import { toDelivery } from './deliveries.js';
import { type LaneLease, acquireLane } from './lanes-leased.js';
import { lockPlaceWithLanes } from './lock-order.js';

const databases = useBothDatabases();

/**
 * Opens a lane with four new changes: the first and the last are sent with the identity, the second without it because
 * it is anonymous, and the third is withheld because it is the removal of an item that the sink never received.
 */
async function openLane(kind: (typeof kinds)[number], name: string): Promise<{ ledger: Ledger; lease: LaneLease }> {
  const ledger = await openLedger(databases.of(kind), testKey);
  const { db } = ledger;
  const [place] = await db.query<{ pigeonholeNumber: number }>(
    `insert into pigeonholes (workspace, pigeonhole_id, next_sequence) values ($1, 1, 5)
       returning pigeonhole_number as "pigeonholeNumber"`,
    [name],
  );
  const [sink] = await db.query<{ id: number }>(`insert into sinks (name, type) values ($1, 'file') returning id`, [
    name,
  ]);
  const [pigeonholeNumber, sinkId] = [place!.pigeonholeNumber, sink!.id];
  await db.query(
    `insert into changes (pigeonhole_number, sequence, id, list, key, revision, kind, found_at, visibility)
     select $1, n, gen_random_uuid(), 'poll-mcq-votes', n::text, 1, 'created', now(),
       case when n = 2 then 'anonymous' else 'named' end from generate_series(1, 4) n`,
    [pigeonholeNumber],
  );
  await db.query(
    `insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, payload, rules, seen_at,
       last_sequence, visibility, erased)
     select $1, 'poll-mcq-votes', n::text, 1, 1, '\\x00', '{}', '', now(), n, 'named', n = 3 from generate_series(1, 4) n`,
    [pigeonholeNumber],
  );
  await db.query('insert into lanes (sink_id, pigeonhole_number, history_until) values ($1, $2, 0)', [
    sinkId,
    pigeonholeNumber,
  ]);
  return { ledger, lease: (await acquireLane(ledger, { sinkId, pigeonholeNumber, owner: 'one', leaseMs: 60_000 }))! };
}

async function begin(ledger: Ledger, lease: LaneLease): Promise<Batch> {
  return await startBatch(ledger, lease, {
    order: 'item',
    size: 10,
    configuration: 1,
    untriedFirst: false,
    terms: {
      lists: ['poll-mcq-votes'],
      accepts: new Set(consentStates),
      revisions: 'every',
      selected: new Set(),
      onConsentWithdrawn: 'keep',
      mayForget: () => true,
    },
    countRemovals: async () => {},
  });
}

async function finish(ledger: Ledger, lease: LaneLease, { sending, reached }: Batch): Promise<void> {
  await finishBatch(ledger, lease, {
    settled: sending.map((change) => {
      const { sequence, identity } = change;
      if (sequence !== 2) return toDelivery(change, { state: 'delivered', identity, attempts: 1 });
      return toDelivery(change, { state: 'retry', identity, attempts: 1, detail: 'refused', retryInMs: 60_000 });
    }),
    batch: { configuration: 1, reached, attempts: [] },
    memory: undefined,
    failing: null,
    onlyLatest: false,
    delivered: 2,
  });
}

/** Returns sequence, state, identity and whether the delivery is due later. */
async function rows(ledger: Ledger, { sinkId, pigeonholeNumber }: LaneLease): Promise<unknown[]> {
  const found = await ledger.db.query<{ row: string }>(
    `select concat_ws(' ', sequence, state, coalesce(identity::text, '-'), coalesce(reason, detail), due_at > now()) as row
     from deliveries where sink_id = $1 and pigeonhole_number = $2 order by sequence`,
    [sinkId, pigeonholeNumber],
  );
  return found.map(({ row }) => row);
}

async function watermark(ledger: Ledger, { sinkId, pigeonholeNumber }: LaneLease): Promise<number> {
  const [lane] = await ledger.db.query<{ watermark: number }>(
    'select watermark from lanes where sink_id = $1 and pigeonhole_number = $2',
    [sinkId, pigeonholeNumber],
  );
  return lane!.watermark;
}

const settledRows = ['1 delivered true', '2 retry false refused t', '3 withheld - erased', '4 delivered true'];
const openedRows = ['1 sending true', '2 sending false', '3 withheld - erased', '4 sending true'];

describe.each(kinds)('a batch on %s', (kind) => {
  it('is one row while it is sent, and one delivery per change once its outcomes are stored', async () => {
    const { ledger, lease } = await openLane(kind, 'once');
    const batch = await begin(ledger, lease);
    expect(batch.sending.map(({ sequence, identity }) => [sequence, identity])).toEqual([
      [1, true],
      [2, false],
      [4, true],
    ]);
    expect(await rows(ledger, lease)).toEqual(['3 withheld - erased']);
    expect(await watermark(ledger, lease)).toBe(0);
    await finish(ledger, lease, batch);
    expect(await rows(ledger, lease)).toEqual(settledRows);
    expect(await watermark(ledger, lease)).toBe(4);
    expect(await ledger.db.query('select 1 from intents')).toEqual([]);
  });

  it('is settled first by the next lease holder if its own holder ended before it settled the batch', async () => {
    const { ledger, lease } = await openLane(kind, 'taken-over');
    const batch = await begin(ledger, lease);
    await ledger.db.query('update lanes set lease_expires_at = now() where sink_id = $1', [lease.sinkId]);
    const next = (await acquireLane(ledger, { ...lease, owner: 'two', leaseMs: 60_000 }))!;
    expect(await rows(ledger, next)).toEqual(openedRows);
    expect(await watermark(ledger, next)).toBe(4);
    const traits = {
      order: 'item',
      needsContext: false,
      revisions: 'every',
      repeats: 'harmless',
      batchSize: 10,
    } as const;
    const left = await changesToRecover(ledger, next, traits, false);
    expect(left.map(({ sequence, identity }) => [sequence, identity])).toEqual([
      [1, true],
      [2, false],
      [4, true],
    ]);
    await expect(finish(ledger, lease, batch)).rejects.toMatchObject({ kind: 'stale' });
    expect(await rows(ledger, next)).toEqual(openedRows);
  });

  it('becomes deliveries if another step locks the lanes, and can still be settled', async () => {
    const { ledger, lease } = await openLane(kind, 'locked');
    const batch = await begin(ledger, lease);
    await ledger.db.transaction(async (tx) => {
      await lockPlaceWithLanes(tx, lease.pigeonholeNumber);
      expect(
        await tx.query("select 1 from deliveries where pigeonhole_number = $1 and state = 'sending'", [
          lease.pigeonholeNumber,
        ]),
      ).toHaveLength(3);
    });
    expect(await rows(ledger, lease)).toEqual(openedRows);
    await finish(ledger, lease, batch);
    expect(await rows(ledger, lease)).toEqual(settledRows);
    expect(await watermark(ledger, lease)).toBe(4);
  });

  it('marks a delivery as `sending` that is sent again, if its holder ended, and keeps its attempts', async () => {
    const { ledger, lease } = await openLane(kind, 'again');
    await finish(ledger, lease, await begin(ledger, lease));
    await ledger.db.query('update deliveries set due_at = now() where sink_id = $1 and sequence = 2', [lease.sinkId]);
    const again = await begin(ledger, lease);
    expect(again).toMatchObject({ sending: [{ sequence: 2, attempts: 1, identity: false }], added: 0 });
    await ledger.db.query('update lanes set lease_expires_at = now() where sink_id = $1', [lease.sinkId]);
    const next = (await acquireLane(ledger, { ...lease, owner: 'two', leaseMs: 60_000 }))!;
    expect((await rows(ledger, next))[1]).toBe('2 sending false refused');
    expect(
      await ledger.db.query('select attempts from deliveries where sequence = 2 and sink_id = $1', [lease.sinkId]),
    ).toEqual([{ attempts: 1 }]);
  });
});
