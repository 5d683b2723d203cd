import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kinds } from '../kit/scenario-kinds.js';
import { saveMapping } from '../../importing/desk/open-registrants.js';
import { viewImport } from '../../importing/desk/import-views.js';
import { listImports } from '../../importing/read-import.js';
import type { DropFolders } from '../../importing/drop-folders/drop-folders.js';
import { dropFoldersIn } from '../imports/desk.js';
import { askToForget, forget } from '../kit/forget.js';
import { readSnapshot } from '../../operations/read-status.js';
import { statusOf } from '../kit/status-of.js';
import { registered } from '../imports/importing.js';
import { type Stage, useStages } from '../kit/stage.js';

const stages = useStages();

/** Longer than the wait until a file counts as complete, and than the wait before an obstacle is checked again. */
const laterMs = 70_000;

/** Checks the folders until all complete files are processed. Uses its own clock, so that the test does not wait. */
function lookedAt(...processes: DropFolders[]): () => Promise<void> {
  let nowMs = 0;
  return async () => {
    for (let looks = 0; looks < 4; looks += 1) {
      for (const each of processes) await each.look(nowMs);
      nowMs += laterMs;
    }
  };
}

/** A drop folder of pigeonhole 101. */
async function dropping(set: Stage, map?: Readonly<Record<string, string>>) {
  const scene = await set.scene();
  const folder = join(set.folder, 'in');
  mkdirSync(folder);
  const entry = { workspace: 'acme', pigeonhole: 101, folder: 'in', ...(map === undefined ? {} : { map }) };
  const open = () => dropFoldersIn(scene, set.folder, [entry]);
  const put = (name: string, ...lines: string[]) => writeFileSync(join(folder, name), lines.join('\n'));
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  return { scene, folder, open, put, read, names: () => readdirSync(folder).toSorted() };
}

const codes = async (set: Stage): Promise<string[]> => (await registered(set)).map(({ attendeeCode }) => attendeeCode);
const imports = async (set: Stage): Promise<number> =>
  (await set.db.query<{ n: number }>('select count(*)::int as n from imports'))[0]!.n;

describe.each(kinds)('a drop folder on %s', (kind) => {
  it('imports a file when it is complete, and writes the report beside it', async () => {
    const set = await stages.open(kind);
    const { open, put, read, names } = await dropping(set, { Ticket: 'attendeeCode' });
    const folders = open();
    put('people.csv', 'Ticket,Name', '007,Ada', ',Bo');
    await folders.look(0);
    await folders.look(2000);
    expect([await codes(set), names()]).toEqual([[], ['people.csv']]);
    await folders.look(3000);
    await folders.look(5000);
    expect(await codes(set)).toEqual(['007']);
    expect(names()).toEqual(['people.csv', 'people.csv.report.csv']);
    expect(read('people.csv.report.csv')).toMatch(/"2","created",.*"'007","Ada"\r\n"3","invalid","attendeeCode"/);
  });

  it('names the command that imports a file into an event that has ended', async () => {
    const set = await stages.open(kind);
    const { open, put, read } = await dropping(set);
    await set.patch('pigeonholes', 101, { status: 'ended' });
    put('people.csv', 'attendeeCode,Name', 'A1,Ada');
    await lookedAt(open())();
    expect(read('people.csv.error.txt')).toMatch(/has ended: .*run "pigeonpost import" with --force\n$/);
  });

  it('imports the same content once, even under another name or after restarts', async () => {
    const set = await stages.open(kind);
    const { open, put, names } = await dropping(set);
    put('people.csv', 'attendeeCode,Name', 'A1,Ada');
    await lookedAt(open())();
    put('copy.csv', 'attendeeCode,Name', 'A1,Ada');
    await lookedAt(open())();
    expect(await imports(set)).toBe(1);
    expect(names()).toEqual(['copy.csv', 'copy.csv.report.csv', 'people.csv', 'people.csv.report.csv']);
  });

  it('imports a corrected file with the same name and replaces the report', async () => {
    const set = await stages.open(kind);
    const { open, put, read } = await dropping(set);
    const look = lookedAt(open());
    put('people.csv', 'attendeeCode,Name', 'A1,Ada', ',Bo');
    await look();
    put('people.csv', 'attendeeCode,Name', 'A1,Ada', 'A2,Bo');
    await look();
    expect(await codes(set)).toEqual(['A1', 'A2']);
    expect(read('people.csv.report.csv')).toMatch(/"2","existing"[^]*"3","created"/);
  });

  it('is watched by several processes, only one of which imports a file', async () => {
    const set = await stages.open(kind);
    const { open, put, names } = await dropping(set);
    const processes = [open(), open(), open()];
    put('people.csv', 'attendeeCode,Name', ...Array.from({ length: 50 }, (_, n) => `A${n},Guest ${n}`));
    for (const nowMs of [0, 3000, 6000, laterMs]) await Promise.all(processes.map((each) => each.look(nowMs)));
    expect(await imports(set)).toBe(1);
    expect(await codes(set)).toHaveLength(50);
    expect(names()).toEqual(['people.csv', 'people.csv.report.csv']);
  });

  it('continues an import if its process died before it recorded the start', async () => {
    const set = await stages.open(kind);
    const { open, put, names } = await dropping(set);
    put('people.csv', 'attendeeCode,Name', 'A1,Ada');
    await lookedAt(open())();
    // the state between the start of an import and its record, with the claim of a dead process
    await set.db.query(`update dropped_files set state = 'claimed', claimed_until = now()`);
    rmSync(join(set.folder, 'in', 'people.csv.report.csv'));
    await lookedAt(open())();
    expect(await imports(set)).toBe(1);
    expect(names()).toEqual(['people.csv', 'people.csv.report.csv']);
  });

  it('reports the mistakes in a file once, and checks it again when its settings change', async () => {
    const set = await stages.open(kind);
    const { open, put, read, names, scene } = await dropping(set);
    put('binary.csv', '\u0000\u0001\u0002PNG\u0000');
    put('empty.csv');
    put('people.csv', 'Nummer 1,Name', 'A1,Ada');
    const look = lookedAt(open());
    await look();
    expect(names().filter((name) => name.endsWith('.error.txt'))).toEqual([
      'binary.csv.error.txt',
      'empty.csv.error.txt',
      'people.csv.error.txt',
    ]);
    expect(read('people.csv.error.txt')).toMatch(/^[^\n]+attendeeCode[^\n]+\n$/);
    const told = scene.logText().match(/cannot be used/g)!.length;
    await look();
    expect([await codes(set), scene.logText().match(/cannot be used/g)!.length]).toEqual([[], told]);
    expect(scene.logText()).not.toMatch(/people\.csv|Ada/);

    const entry = { workspace: 'acme', pigeonhole: 101, folder: 'in', map: { 'Nummer 1': 'attendeeCode' } };
    await lookedAt(dropFoldersIn(scene, set.folder, [entry]))();
    expect(await codes(set)).toEqual(['A1']);
    expect(names().filter((name) => name.startsWith('people'))).toEqual(['people.csv', 'people.csv.report.csv']);
  });

  it('lists a file that it cannot use as an ended import with the reason, until the file is imported', async () => {
    const set = await stages.open(kind);
    const { open, put, read, scene } = await dropping(set);
    put('people.csv', 'Nummer 1,Name', 'A1,Ada');
    await lookedAt(open(), open())();
    const shown = async () =>
      (await listImports(scene.ledger, { workspace: 'acme', before: null, limit: 10 }))
        .map(viewImport)
        .map(({ file, requestedBy, state, reason, rows }) => ({ file, requestedBy, state, reason, rows }));
    const listed = { file: 'people.csv', requestedBy: 'drop folder', rows: 0 };
    const reason = read('people.csv.error.txt').trim();
    expect(reason).toContain('did not recognise a column with the attendee code');
    expect(await shown()).toEqual([{ ...listed, state: 'cancelled', reason }]);

    const entry = { workspace: 'acme', pigeonhole: 101, folder: 'in', map: { 'Nummer 1': 'attendeeCode' } };
    await lookedAt(dropFoldersIn(scene, set.folder, [entry]))();
    expect(await shown()).toEqual([{ ...listed, state: 'done', reason: null, rows: 1 }]);
  });

  it('keeps the entry of a file that it cannot use after an erasure, without the erased name', async () => {
    const set = await stages.open(kind);
    const { open, put, scene } = await dropping(set);
    put('Ada Lovelace.csv', 'Nummer 1,Name', 'A1,Ada');
    const look = lookedAt(open());
    await look();
    const entries = () => scene.ledger.db.query('select number, id, file, ended_at from imports');
    await set.db.query(`update imports set file = '(name erased)'`);
    const kept = await entries();
    await set.db.query(
      `insert into erasures (id, asked_hash, cleared_at, ended_at) values (gen_random_uuid(), '\\x00', now(), now())`,
    );
    await look();
    await lookedAt(open())();
    expect(kept).toHaveLength(1);
    expect(await entries()).toEqual(kept);
  });

  it('lists a file as unusable even if an attempt to read it left a part of an import', async () => {
    const set = await stages.open(kind);
    const { open, put, scene } = await dropping(set);
    put('people.csv', 'Nummer 1,Name', 'A1,Ada');
    await lookedAt(open())();
    // the state after three processes have died while they read the file, with the claim of the last one
    await set.db.query(`update dropped_files set state = 'claimed', claims = 3, claimed_until = now(), problem = null`);
    await set.db.query(`update imports set state = 'staging', ended_at = null`);
    await lookedAt(open())();
    const shown = (await listImports(scene.ledger, { workspace: 'acme', before: null, limit: 10 })).map(viewImport);
    expect(shown).toMatchObject([{ state: 'cancelled', reason: expect.stringContaining('crashed 3 times') }]);
  });

  it('imports a file when its missing mapping is saved, and again when the mapping changes, without a restart', async () => {
    const set = await stages.open(kind);
    const { put, read, scene } = await dropping(set);
    const entry = { workspace: 'acme', pigeonhole: 101, folder: 'in', map: 'tickets' };
    const look = lookedAt(dropFoldersIn(scene, set.folder, [entry]));
    put('people.csv', 'Nummer 1,Name', 'A1,Ada');
    await look();
    expect(read('people.csv.error.txt')).toContain('no mapping is saved under the name tickets');
    await saveMapping(scene.ledger, {
      workspace: 'acme',
      name: 'tickets',
      columns: { 'Nummer 2': 'attendeeCode' },
      by: null,
    });
    await look();
    expect(read('people.csv.error.txt')).toContain('pigeonpost did not recognise a column with the attendee code');
    await saveMapping(scene.ledger, {
      workspace: 'acme',
      name: 'tickets',
      columns: { 'Nummer 1': 'attendeeCode' },
      by: null,
    });
    await look();
    expect(await codes(set)).toEqual(['A1']);
  });

  it('refuses a field that no attendee has, unless the configuration names it', async () => {
    const set = await stages.open(kind);
    await set.put('attendees', { id: 1, attendeeCode: 'OLD', Name: 'Ada', Email: 'a@example.com' });
    const { open, put, read, scene } = await dropping(set);
    put('people.csv', 'attendeeCode,Name,Emial', 'A1,Ada,a@example.com');
    await lookedAt(open())();
    expect([await codes(set), read('people.csv.error.txt')]).toEqual([[], expect.stringContaining('Emial')]);
    const entry = { workspace: 'acme', pigeonhole: 101, folder: 'in', map: { Emial: 'Emial' } };
    await lookedAt(dropFoldersIn(scene, set.folder, [entry]))();
    expect(await codes(set)).toEqual(['A1']);
  });

  it('treats a replacement file as new, and the first file as new when it returns', async () => {
    const set = await stages.open(kind);
    const { put, scene } = await dropping(set);
    const [first, other] = ['A1,Ada', 'A2,Bo'].map((row) => ['attendeeCode,Name', row]) as [string[], string[]];
    const gate = Object.create(scene.deps.gate) as typeof scene.deps.gate;
    let asked = 0;
    gate.request = async (...question) => {
      if ((asked += 1) === 1) put('people.csv', ...other); // known by its content and not read yet
      return await scene.deps.gate.request(...question);
    };
    const folders = dropFoldersIn({ ...scene, deps: { ...scene.deps, gate } }, set.folder, [
      { workspace: 'acme', pigeonhole: 101, folder: 'in' },
    ]);
    const look = lookedAt(folders);
    put('people.csv', ...first);
    await look();
    expect(await codes(set)).toEqual(['A2']);
    put('people.csv', ...first);
    await look();
    expect(await codes(set)).toEqual(['A1', 'A2']);
  });

  it('writes the reports of all copies of a file again after an erasure, also after a restart', async () => {
    const set = await stages.open(kind);
    const { open, put, read, scene } = await dropping(set);
    const names = ['copy.csv', 'people.csv', 'zz.csv'];
    for (const name of names) put(name, 'attendeeCode,Name', 'A1,Ada', 'A2,Bo', 'A3,Cy');
    const look = lookedAt(open());
    await look();
    for (const [code, next] of [
      ['A1', look],
      ['A2', lookedAt(open())],
    ] as const) {
      await forget(set, scene, await askToForget(scene, { by: 'code', text: code }));
      await next();
      for (const name of names) expect(read(`${name}.report.csv`)).not.toContain(code);
    }
    expect(read('zz.csv.report.csv')).toContain('A3');
  });

  it('replaces the report of other content when a file returns', async () => {
    const set = await stages.open(kind);
    const { open, put, read } = await dropping(set);
    const look = lookedAt(open());
    for (const row of ['A1,Ada', 'A2,Bo', 'A1,Ada']) {
      put('people.csv', 'attendeeCode,Name', row);
      await look();
      expect(read('people.csv.report.csv')).toContain(`"${row.replace(',', '","')}"`);
    }
  });

  it('keeps a file waiting while no import is possible, reports why, and continues automatically', async () => {
    const set = await stages.open(kind);
    const { open, put, read, names } = await dropping(set);
    await set.patch('pigeonholes', 101, { registrants: false });
    put('people.csv', 'attendeeCode,Name', 'A1,Ada');
    const look = lookedAt(open());
    await look();
    expect(read('people.csv.error.txt')).toMatch(/switched off[^]*try again automatically/);
    await set.patch('pigeonholes', 101, { registrants: true });
    await look();
    expect([await codes(set), names()]).toEqual([['A1'], ['people.csv', 'people.csv.report.csv']]);
  });

  it('has one sub-folder for each id if a pattern selects pigeonholes, and applies the pattern', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const place = join(set.folder, 'in', '101');
    mkdirSync(place, { recursive: true });
    mkdirSync(join(set.folder, 'in', 'notes'));
    writeFileSync(join(place, 'people.csv'), 'attendeeCode,Name\nA1,Ada\n');
    writeFileSync(join(set.folder, 'in', 'notes', 'people.csv'), 'attendeeCode,Name\nA2,Bo\n');
    const folders = (name: string) =>
      dropFoldersIn(scene, set.folder, [{ workspace: 'acme', pigeonhole: { name }, folder: 'in' }]);
    await lookedAt(folders('^OTHER '))();
    expect(readFileSync(join(place, 'people.csv.error.txt'), 'utf8')).toContain('does not match ^OTHER ');
    await lookedAt(folders('^ACME '))();
    expect(await codes(set)).toEqual(['A1']);
  });

  it('is logged once if it is missing, and other folders are still read', async () => {
    const set = await stages.open(kind);
    const { put, scene, names } = await dropping(set);
    const folders = dropFoldersIn(scene, set.folder, [
      { workspace: 'acme', pigeonhole: 101, folder: 'missing' },
      { workspace: 'acme', pigeonhole: 101, folder: 'in' },
    ]);
    put('people.csv', 'attendeeCode,Name', 'A1,Ada');
    await lookedAt(folders)();
    expect(scene.logText().match(/a drop folder cannot be read/g)).toHaveLength(1);
    expect(names()).toContain('people.csv.report.csv');
  });

  it('is a problem in the status while it is missing', async () => {
    const set = await stages.open(kind);
    const { scene } = await dropping(set);
    const folders = dropFoldersIn(scene, set.folder, [{ workspace: 'acme', pigeonhole: 101, folder: 'missing' }]);
    const shown = async (): Promise<readonly string[]> => {
      await folders.look(performance.now());
      const sources = { unreadableFolders: () => folders.unreadable };
      const { problems } = await statusOf(scene, sources);
      const more = { ...scene.deps, trouble: () => null, quotas: async () => new Map(), ...sources };
      expect((await readSnapshot(more, null)).folders).toEqual(folders.unreadable); // for alerts
      return problems.flatMap(({ code, detail }) => (code === 'drop-folder-unreadable' ? [String(detail)] : []));
    };
    expect(await shown()).toEqual([`${join(set.folder, 'missing')} does not exist`]);
    mkdirSync(join(set.folder, 'missing'));
    expect(await shown()).toEqual([]);
  });
});
