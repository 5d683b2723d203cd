import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { kinds, useBothDatabases } from '../../ledger/drivers/both-databases.test-kit.js';
import { testKey } from '../../ledger/ledger-key.test-kit.js';
import { type Ledger, openLedger } from '../../ledger/ledger.js';
import { auditEntries } from '../../ledger/audit.js';
import { failingExports } from '../../ledger/nightly-exports.js';
import { pause, resume } from '../../ledger/pauses.js';
import { pigeonholeNumberOf } from '../../ledger/pigeonholes.js';
import { readWorkbook } from '../../base/sheets/read-workbook.test-kit.js';
import type { Collaborators } from '../../cycles/collaborators.js';
import type { NightlyExport } from '../../config/config.js';
import { createFileSink } from '../../sinks/file/file.js';
import type { Sink } from '../../sinks/sink.js';
import { environmentOf } from '../../sinks/sink-environment.test-kit.js';
import { lastNight, NightlyExports } from './nightly-exports.js';

const databases = useBothDatabases();

describe('the last night', () => {
  const at = (minutes: number, timezone: string, now: string) => lastNight({ minutes, timezone }, Date.parse(now));

  it.each([
    ['02:00 in Berlin has passed', 120, '2026-11-29T01:00:00Z', '2026-11-29', '2026-11-29T01:00:00Z'],
    ['02:00 in Berlin is still to come', 120, '2026-11-29T00:59:59Z', '2026-11-28', '2026-11-28T01:00:00Z'],
    ['the clock skips 02:30', 150, '2026-03-29T05:00:00Z', '2026-03-29', '2026-03-29T01:30:00Z'],
    ['the clock shows 02:30 twice', 150, '2026-10-25T05:00:00Z', '2026-10-25', '2026-10-25T00:30:00Z'],
  ])('is right if %s', (_, minutes, now, night, due) => {
    expect(at(minutes, 'Europe/Berlin', now)).toEqual({ night, atMs: Date.parse(due) });
  });

  it('is a day of the zone, wherever it is', () => {
    expect(at(0, 'Pacific/Kiritimati', '2026-11-29T11:00:00Z').night).toBe('2026-11-30');
    expect(at(23 * 60 + 59, 'Pacific/Pago_Pago', '2026-11-29T11:00:00Z').night).toBe('2026-11-28');
  });
});

describe.each(kinds)('nightly exports, on %s', (kind) => {
  let ledger: Ledger;
  let folder: string;
  let now: number;
  const warned: string[] = [];

  beforeAll(async () => {
    ledger = await openLedger(databases.of(kind), testKey);
  });
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'nightly-'));
    now = Date.parse('2026-11-29T05:00:00Z');
    warned.length = 0;
    await ledger.db.script('truncate nightly_exports, items, audit, selections');
    for (const id of [101, 102]) {
      const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', id);
      await ledger.db.query('update pigeonholes set next_sequence = 5 where pigeonhole_number = $1', [
        pigeonholeNumber,
      ]);
      await ledger.db.query(`insert into selections (sync, pigeonhole_number) values ('all', $1)`, [pigeonholeNumber]);
    }
    await person(101, 1, 'Ann', 'obtained');
    await person(101, 2, 'Refusing Rita', 'refused');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function person(pigeonholeId: number, key: number, name: string, consent: string): Promise<void> {
    await ledger.db.query(
      `insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, payload, rules, seen_at, last_sequence, consent)
       values ($1, 'attendees', $2, 1, 1, '\\x00', $3, '', now(), 1, $4)`,
      [
        await pigeonholeNumberOf(ledger, 'acme', pigeonholeId),
        String(key),
        JSON.stringify({ id: key, Name: name }),
        consent,
      ],
    );
  }

  interface Given {
    readonly entry?: Partial<NightlyExport>;
    readonly sink?: Partial<Sink>;
    readonly observing?: boolean;
    readonly stopping?: AbortSignal;
  }

  /** Runs one look of a process. */
  async function look({ entry = {}, sink = {}, observing = false, stopping }: Given = {}): Promise<void> {
    const own = createFileSink({ folder: 'archive' }, environmentOf('archive', { baseFolder: folder }));
    const deps = {
      ledger: { ...ledger, clock: { nowMs: () => now } },
      config: {
        syncs: { all: { workspace: 'acme', sinks: ['archive'] } },
        exports: [
          {
            to: 'archive',
            at: { minutes: 120, timezone: 'UTC' },
            format: 'csv',
            tables: ['attendees'],
            keep: 14,
            ...entry,
          },
        ],
      },
      sinks: new Map([
        [
          'archive',
          {
            name: 'archive',
            sink: { ...own, ...sink },
            observing,
            accepts: new Set(['obtained', 'not-asked', 'not-known']),
          },
        ],
      ]),
      stopping: stopping ?? new AbortController().signal,
      log: { warn: (fields: object) => void warned.push(JSON.stringify(fields)) },
    } as unknown as Collaborators;
    await new NightlyExports({ use: (work) => work(deps) }).look();
  }

  const files = (): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile() && each.parentPath.includes('_exports'))
      .map((each) => join(each.parentPath, each.name).slice(folder.length))
      .toSorted();
  const text = async (name: string): Promise<string> =>
    await readFile(join(folder, 'archive/_exports/acme', name), 'utf8');
  const nextDay = (): void => void (now += 24 * 60 * 60_000);
  const change = async (id: number): Promise<void> => {
    await ledger.db.query(`update pigeonholes set next_sequence = next_sequence + 1 where pigeonhole_id = $1`, [id]);
  };

  it('writes each pigeonhole once a night, under the consent settings of the sink, and records it', async () => {
    await look();
    await look();
    expect(files()).toEqual([
      '/archive/_exports/acme/101/2026-11-29-attendees.csv',
      '/archive/_exports/acme/102/2026-11-29-attendees.csv',
    ]);
    const csv = await text('101/2026-11-29-attendees.csv');
    expect(csv).toContain('"Ann"');
    expect(csv).not.toContain('Rita');
    const log = await auditEntries(ledger, { who: null, action: null, target: null }, { before: null, limit: 10 });
    expect(log.map(({ who, action, target, outcome }) => [who, action, target, outcome])).toEqual([
      ['nightly export', 'export', 'pigeonhole:acme/102', 'done'],
      ['nightly export', 'export', 'pigeonhole:acme/101', 'done'],
    ]);
    expect(warned).toEqual([]);
  });

  it('writes a pigeonhole in the next night only if something has changed in it', async () => {
    await look();
    nextDay();
    await change(102);
    await look();
    expect(files()).toEqual([
      '/archive/_exports/acme/101/2026-11-29-attendees.csv',
      '/archive/_exports/acme/102/2026-11-29-attendees.csv',
      '/archive/_exports/acme/102/2026-11-30-attendees.csv',
    ]);
  });

  it('is one workbook with every list by default', async () => {
    await look({ entry: { format: 'xlsx', tables: undefined } });
    expect(files()).toContain('/archive/_exports/acme/101/2026-11-29.xlsx');
    const bytes = await readFile(join(folder, 'archive/_exports/acme/101/2026-11-29.xlsx'));
    const sheets = await readWorkbook(
      (async function* () {
        yield bytes;
      })(),
    );
    expect(sheets.map(({ name }) => name)).toEqual(expect.arrayContaining(['attendees', 'votes', 'engagement']));
    expect(sheets.map(({ name }) => name)).not.toContain('import-rows');
  });

  it('removes the files of the nights that are not kept', async () => {
    for (let night = 0; night < 4; night += 1) {
      await look({ entry: { keep: 2 } });
      await change(101);
      nextDay();
    }
    expect(files().filter((name) => name.includes('/101/'))).toEqual([
      '/archive/_exports/acme/101/2026-12-01-attendees.csv',
      '/archive/_exports/acme/101/2026-12-02-attendees.csv',
    ]);
    for (let night = 0; night < 4; night += 1) {
      await look({ entry: { keep: 'all' } });
      await change(101);
      nextDay();
    }
    expect(files().filter((name) => name.includes('/101/'))).toHaveLength(6);
  });

  it('replaces the files that were written before an erasure, also in the same night', async () => {
    await look({ entry: { keep: 'all' } });
    nextDay();
    await change(101);
    await look({ entry: { keep: 'all' } });
    await ledger.db.query(`update items set payload = null, erased = true where key = '1'`);
    await look({ entry: { keep: 'all' } });
    expect(files().filter((name) => name.includes('/101/'))).toEqual([
      '/archive/_exports/acme/101/2026-11-30-attendees.csv',
    ]);
    expect(await text('101/2026-11-30-attendees.csv')).not.toContain('Ann');
  });

  it('is written by one of several processes', async () => {
    let written = 0;
    const putFile: Sink['putFile'] = async ({ bytes }) => {
      for await (const _ of bytes) void _;
      written += 1;
      await look({ sink: { putFile } }); // another process, in the middle
      return { kind: 'delivered' };
    };
    await look({ sink: { putFile } });
    expect(written).toBe(2); // one for each pigeonhole
  });

  it('counts as failing from the first failed attempt until it is written', async () => {
    const refuse: Partial<Sink> = { putFile: async () => ({ kind: 'retry', detail: 'no space is left' }) };
    expect(await failingExports(ledger)).toEqual([]);
    await look({ sink: refuse });
    const [first] = await failingExports(ledger);
    expect(first).toMatchObject({ sink: 'archive', workspace: 'acme', pigeonholes: 2, failure: 'no space is left' });
    await ledger.db.query(`update nightly_exports set claimed_until = now()`);
    await look({ sink: refuse });
    expect((await failingExports(ledger))[0]!.since).toEqual(first!.since);
    await ledger.db.query(`update nightly_exports set claimed_until = now() - interval '3 hours'`);
    expect(await failingExports(ledger)).toEqual([]); // no longer exported, so nobody tries it again
    await ledger.db.query(`update nightly_exports set claimed_until = now()`);
    await look();
    expect(await failingExports(ledger)).toEqual([]);
  });

  it('is written by another process after the one that wrote it died, and a draft is removed', async () => {
    await look({
      sink: {
        putFile: async () => await Promise.reject(Object.assign(new Error('killed'), { isKill: true })),
      },
    });
    // as a kill leaves it: claimed, and not yet free
    await ledger.db.query(`update nightly_exports set failure = null, claimed_until = now() + interval '1 minute'`);
    await look();
    expect(files()).toEqual([]);
    await ledger.db.query(`update nightly_exports set claimed_until = now()`);
    await look();
    expect(files()).toHaveLength(2);
  });

  it('that fails is tried again after ten minutes, and leaves no file', async () => {
    const putFile: Sink['putFile'] = async () => await Promise.resolve({ kind: 'retry', detail: 'the disk is full' });
    await look({ sink: { putFile } });
    expect(warned).toHaveLength(2);
    await look();
    expect(files()).toEqual([]);
    await ledger.db.query(`update nightly_exports set claimed_until = claimed_until - interval '10 minutes'`);
    await look();
    expect(files()).toHaveLength(2);
  });

  it('of a process that stops leaves no file', async () => {
    const stopping = new AbortController();
    const own = createFileSink({ folder: 'archive' }, environmentOf('archive', { baseFolder: folder }));
    await look({
      stopping: stopping.signal,
      sink: {
        putFile: async (file, id, signal) => {
          stopping.abort();
          return await own.putFile!(file, id, signal);
        },
      },
    });
    expect(files()).toEqual([]);
  });

  it('waits while the sink is paused or observes', async () => {
    await look({ observing: true });
    await pause(ledger, {
      scope: 'sink',
      name: 'archive',
      pausedBy: 'person',
      cause: 'person',
      detail: '',
      fingerprint: null,
    });
    await look();
    expect(files()).toEqual([]);
    await resume(ledger, 'sink', 'archive', 'person');
    await look();
    expect(files()).toHaveLength(2);
  });
});
