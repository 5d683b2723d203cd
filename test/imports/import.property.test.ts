import fc from 'fast-check';
import { importRegistrants } from '../../importing/import-registrants.js';
import { kinds } from '../../ledger/drivers/both-databases.test-kit.js';
import type { Ledger } from '../../ledger/ledger.js';
import { mortalDatabase, ProcessDied } from '../kit/mortal-database.js';
import type { Scene } from '../kit/scene.js';
import { type Stage, useStages } from '../kit/stage.js';
import { counts, people, type Profile, registered, report, rowsOf, stage, waitsAreOver } from './importing.js';

/** Number of runs of each property. For more, use IMPORT_RUNS=500 npx jest test/imports --selectProjects system. */
const runs = Number(process.env['IMPORT_RUNS'] ?? 8);
const kind = kinds.at(-1)!; // PostgreSQL if available, which needs half the time of the embedded store

const stages = useStages();

const world = fc.record({
  rows: fc.integer({ min: 1, max: 60 }),
  bad: fc.uniqueArray(fc.nat(59), { maxLength: 5 }),
  earlier: fc.uniqueArray(fc.nat(59), { maxLength: 5 }),
  chunkSize: fc.constantFrom(7, 20, 500),
  seed: fc.nat(1_000_000),
  knobs: fc.record({
    registrantAtomicity: fc.constantFrom('all-or-nothing', 'partial'),
    registrantErrors: fc.constantFrom('indexed', 'dotted', 'from-one', 'named', 'none'),
    registrantDuplicates: fc.constantFrom('refuse-row', 'refuse-chunk', 'ignore', 'upsert'),
    registrantMaxBatch: fc.constantFrom(10, 1000),
  }),
  faults: fc.array(
    fc.record({
      kind: fc.constantFrom('error', 'errorAfter', 'dropBefore', 'dropAfter', 'text503', 'htmlBody'),
      rate: fc.constantFrom(0.05, 0.2),
    }),
    { maxLength: 2 },
  ),
  /** A process dies at its n-th access to the store; the next one continues. */
  deaths: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 5 }),
});

type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

const never = new AbortController().signal;

/** Runs cycles until the import has ended; the process dies at the given moments, and another continues. */
async function runToItsEnd(scene: Scene, id: string, deaths: readonly number[]): Promise<void> {
  const left = [...deaths];
  for (let turns = 0; turns < 2000; turns += 1) {
    const death = left.shift();
    const db = death === undefined ? scene.ledger.db : mortalDatabase(scene.ledger.db, ({ n }) => n === death);
    const ledger: Ledger = { ...scene.ledger, db, hash: scene.ledger.hash };
    try {
      const last = await importRegistrants({ ...scene.deps, ledger }, id, never);
      if (last.state === 'finished') return;
      await waitsAreOver(scene, last.nextDueInMs);
      await scene.ledger.db.query('update workspaces set wait_until = now() where wait_until > now()');
    } catch (error) {
      if (!(error instanceof ProcessDied)) throw error;
    }
  }
  throw new Error('the import has not ended after 2000 turns');
}

async function prepare(set: Stage, { knobs, faults, earlier, rows, bad }: World): Promise<Profile[]> {
  const file = people(rows).map((person, index) =>
    bad.includes(index) ? { ...person, Name: 'n'.repeat(300) } : person,
  );
  const there = earlier.filter((index) => index < rows && !bad.includes(index)).map((index) => file[index]!);
  for (const person of there) {
    await fetch(`${set.sandbox.baseUrl}/v2/pigeonholes/101/registrants/bulk`, {
      method: 'POST',
      headers: { 'X-API-KEY': 'sandbox-key', 'Content-Type': 'application/json' },
      body: JSON.stringify({ data: [person] }),
    });
  }
  await set.control('DELETE', 'requests');
  await set.control('PATCH', 'knobs', knobs);
  for (const { kind: fault, rate } of faults) await set.fault({ kind: fault, rate, path: 'bulk', code: 5000 });
  return file;
}

describe('an import with an unpredictable service and processes that die at any moment', () => {
  it('creates every valid registrant exactly once and reports the truth', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        const set = await stages.open(kind, { seed: given.seed });
        const scene = await set.scene();
        try {
          const file = await prepare(set, given);
          const id = await stage(scene, rowsOf(...file));
          await set.db.query('update imports set chunk_size = $1', [given.chunkSize]);
          await runToItsEnd(scene, id, given.deaths);

          const isBad = new Set(given.bad.map((index) => file[index]?.attendeeCode));
          const codes = (await registered(set)).map(({ attendeeCode }) => attendeeCode);
          expect(codes).toEqual(file.map(({ attendeeCode }) => attendeeCode).filter((code) => !isBad.has(code)));
          const told = await report(scene, id);
          expect(told.map(({ row }) => row)).toEqual(file.map((_, index) => index + 2));
          for (const { profile, outcome } of told) {
            const { attendeeCode } = profile as Profile;
            // If the service gives no reasons, a row that may have arrived can keep the outcome `unknown`. If it does,
            // no row may.
            const hasReasons = given.knobs.registrantErrors !== 'none';
            if (outcome !== 'unknown' && hasReasons) {
              expect([attendeeCode, outcome === 'rejected']).toEqual([attendeeCode, isBad.has(attendeeCode)]);
            }
            if (hasReasons) expect([attendeeCode, outcome]).not.toEqual([attendeeCode, 'unknown']);
            if (outcome === 'created' || outcome === 'existing') expect(isBad.has(attendeeCode)).toBe(false);
          }
          const sum = Object.values(await counts(scene, id)).reduce((total, count) => total + count, 0);
          expect(sum).toBe(file.length);
        } finally {
          await set.close();
        }
      }),
      { numRuns: runs },
    );
  }, 600_000);
});
