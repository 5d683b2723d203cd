import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kinds, useBothDatabases } from '../../ledger/drivers/both-databases.test-kit.js';
import { openLedger } from '../../ledger/ledger.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { type Disturbances, play } from './play.js';
import { type Figures, runProperties } from './run-properties.js';
import type { Script } from './script.js';

const databases = useBothDatabases();

/**
 * Reading makes the same decisions on both stores, and a life takes twice as long on the embedded one. `npm run
 * properties` plays a thousand lives, also from other seeds.
 */
const runsOf = { postgres: 4, embedded: 1 } as const;
const played: Figures[] = [];

describe.each(kinds)('reading lists that change between any two requests, on %s', (kind) => {
  it('ends with the truth, reports nothing twice, and reports no false deletion', async () => {
    const db = databases.of(kind);
    await openLedger(db, testKey);
    const figures = await runProperties(db, { runs: runsOf[kind], seed: kind === 'postgres' ? 1 : 5001 });
    played.push(figures);
    expect(figures.failures.map(({ seed, what }) => `seed ${seed}: ${what}`)).toEqual([]);
    expect(figures.changes).toBeGreaterThan(10 * runsOf[kind]);
  }, 600_000);
});

it('was disturbed in every way: lives in which nothing happens would prove nothing', () => {
  const times = (name: keyof Disturbances): number => played.reduce((sum, { disturbed }) => sum + disturbed[name], 0);
  const names = Object.keys(played[0]!.disturbed) as (keyof Disturbances)[];
  expect(names.filter((name) => times(name) === 0)).toEqual([]);
});

it.each([
  // Two rows disappear during a walk, so that another moves to a page already read; then one filtered answer is empty.
  ['the row that a walk overlooked and one filtered answer did not show', 'overlooked-row'],
  // Rows disappear during a walk, so that it passes over others; hours later, one answer is empty.
  ['the rows that a walk passed over and one empty answer did not show', 'passed-over-rows'],
  // Two answers are empty; half an hour later, rows disappear during a walk, so that it passes over a row
  // whose place is between two pages.
  ['the row that two empty answers and a walk between two pages did not show', 'row-between-pages'],
])(
  'keeps %s',
  async (_, life) => {
    const db = databases.of(kinds.at(-1)!);
    await openLedger(db, testKey);
    const script = JSON.parse(readFileSync(join(__dirname, `lives/${life}.json`), 'utf8')) as Script;
    const { faults } = await play(script, db);
    expect(Object.values(faults).flat()).toEqual([]);
  },
  300_000,
);
