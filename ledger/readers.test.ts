import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import { type Ledger, openLedger } from './ledger.js';
import { testKey } from './ledger-key.test-kit.js';
import { addSelections, archiveSelections, registerSyncs } from './pigeonholes.js';
import { assignReaders, beat, endEmptyReader, readerNumbers, readersOf, returnReader, takeReader } from './readers.js';
import { useConfiguration } from './configurations.js';
import { forgetEverything } from '../test/kit/forget-everything.js';

const databases = useBothDatabases();
const events = { name: 'events', workspace: 'acme', choice: '{}' };

describe.each(kinds)('readers, on %s', (kind) => {
  let ledger: Ledger;
  let configuration: number;

  beforeEach(async () => {
    await forgetEverything(databases.of(kind));
    ledger = await openLedger(databases.of(kind), testKey);
    configuration = await useConfiguration(ledger, {}, true);
    await registerSyncs(ledger, [events]);
  });

  async function select(from: number, to: number): Promise<void> {
    const ids = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    await addSelections(ledger, { sync: 'events', workspace: 'acme', configuration }, ids);
    await assignReaders(ledger);
  }

  /** Number of pigeonholes of each reader, in the order of their numbers. */
  async function sizes(): Promise<number[]> {
    const rows = await ledger.db.query<{ size: number }>(
      `select (select count(*)::int from pigeonholes p where p.reader = r.number) as size from readers r order by number`,
    );
    return rows.map(({ size }) => size);
  }

  async function pigeonholeNumberOf(pigeonholeId: number): Promise<number> {
    const [row] = await ledger.db.query<{ pigeonholeNumber: number }>(
      'select pigeonhole_number as "pigeonholeNumber" from pigeonholes where pigeonhole_id = $1',
      [pigeonholeId],
    );
    return row!.pigeonholeNumber;
  }

  it('have at most 25 pigeonholes each, and fill up before another is added', async () => {
    await select(1, 30);
    expect(await sizes()).toEqual([25, 5]);
    await select(31, 60);
    expect(await sizes()).toEqual([25, 25, 10]);
    const before = await ledger.db.query(
      'select pigeonhole_number, reader, asked from pigeonholes order by pigeonhole_number',
    );
    await assignReaders(ledger);
    expect(
      await ledger.db.query('select pigeonhole_number, reader, asked from pigeonholes order by pigeonhole_number'),
    ).toEqual(before);
  });

  it('lose the pigeonholes that no sync selects, and give their places to others', async () => {
    await select(1, 30);
    await archiveSelections(ledger, 'events', [await pigeonholeNumberOf(1), await pigeonholeNumberOf(2)]);
    await assignReaders(ledger);
    expect(await sizes()).toEqual([23, 5]);
    await select(31, 32);
    expect(await sizes()).toEqual([25, 5]);
    await registerSyncs(ledger, []);
    await assignReaders(ledger);
    expect(await sizes()).toEqual([0, 0]);
  });

  it('are assigned once by several processes', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => index + 1);
    await addSelections(ledger, { sync: 'events', workspace: 'acme', configuration }, ids);
    await Promise.all([assignReaders(ledger), assignReaders(ledger), assignReaders(ledger)]);
    expect(await sizes()).toEqual([25, 25, 10]);
  });

  it('belong to the newest stay only', async () => {
    await select(1, 2);
    const [number] = await readerNumbers(ledger);
    const first = (await takeReader(ledger, number!, 'one'))!;
    expect(await beat(ledger, first)).toMatchObject({
      configuration,
      members: [{ pigeonholeId: 1 }, { pigeonholeId: 2 }],
    });
    const second = (await takeReader(ledger, number!, 'two'))!;
    expect(await beat(ledger, first)).toBeUndefined();
    await returnReader(ledger, first);
    expect(await ledger.db.query('select owner from readers')).toEqual([{ owner: 'two' }]);
    await returnReader(ledger, second);
    expect(await ledger.db.query('select owner from readers')).toEqual([{ owner: null }]);
  });

  it('end when they have no pigeonhole, and their numbers are not used again', async () => {
    await select(1, 1);
    const [number] = await readerNumbers(ledger);
    const lease = (await takeReader(ledger, number!, 'one'))!;
    expect(await endEmptyReader(ledger, lease)).toBe(false);
    await archiveSelections(ledger, 'events', [await pigeonholeNumberOf(1)]);
    await assignReaders(ledger);
    expect(await beat(ledger, lease)).toMatchObject({ members: [] });
    expect(await endEmptyReader(ledger, { ...lease, epoch: lease.epoch - 1 })).toBe(false);
    expect(await endEmptyReader(ledger, lease)).toBe(true);
    expect([await beat(ledger, lease), await takeReader(ledger, number!, 'one')]).toEqual([undefined, undefined]);
    await select(1, 1);
    const places = [{ workspace: 'acme', pigeonholeId: 1 }];
    expect(await readersOf(ledger, places)).toEqual([number! + 1]);
  });
});
