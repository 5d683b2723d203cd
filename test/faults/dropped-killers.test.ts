import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freeDroppedFiles } from '../../ledger/imports/dropped-files.js';
import type * as OpenInThread from '../../importing/files/open-in-thread.js';
import { dropFoldersIn } from '../imports/desk.js';
import { registered } from '../imports/importing.js';
import { mortalDatabase, ProcessDied } from '../kit/mortal-database.js';
import { kinds } from '../kit/scenario-kinds.js';
import { type Stage, useStages } from '../kit/stage.js';

/** The names of the files that were opened, in order, and what happens at that moment. */
const opened: string[] = [];
let onOpened: (name: string) => void = () => undefined;

/**
 * Files are read in real threads. The limits of `readLimits` leave no file that could kill or hang its reader, so the
 * name of a file chooses bounds under which it does.
 */
jest.mock('../../importing/files/open-in-thread.js', () => {
  const actual = jest.requireActual<typeof OpenInThread>('../../importing/files/open-in-thread.js');
  return {
    openInThread: (...[source, options]: Parameters<typeof actual.openInThread>) => {
      opened.push(options.name);
      onOpened(options.name);
      if (options.name === 'killing.json')
        return actual.openInThread(source, options, { heapMegabytes: 6, stepMs: 60_000 });
      if (options.name === 'hanging.csv') return actual.openInThread(source, options, { heapMegabytes: 64, stepMs: 1 });
      return actual.openInThread(source, options);
    },
  };
});

const stages = useStages();
beforeEach(() => {
  opened.length = 0;
  onOpened = () => undefined;
});

/** Files that take a thread some megabytes or milliseconds; the others are small. */
const contents: Readonly<Record<string, string>> = {
  'killing.json': `[${'{"attendeeCode":"a"},'.repeat(400_000)}{"attendeeCode":"b"}]`,
  'hanging.csv': `attendeeCode,Name\n${`A1${','.repeat(100_000)}x\n`.repeat(40)}`,
};

async function dropping(set: Stage, ...names: readonly string[]) {
  const scene = await set.scene();
  const folder = join(set.folder, 'in');
  mkdirSync(folder);
  for (const name of names) writeFileSync(join(folder, name), contents[name] ?? `attendeeCode,Name\n${name},Ada`);
  return {
    scene,
    names: () => readdirSync(folder).toSorted(),
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
    /** A process from its start until all whole files are processed, or until it dies. */
    start: async (db = set.db): Promise<void> => {
      await freeDroppedFiles(scene.ledger);
      const deps = { ...scene.deps, ledger: { ...scene.ledger, db } };
      const folders = dropFoldersIn({ ...scene, deps }, set.folder, [
        { workspace: 'acme', pigeonhole: 101, folder: 'in' },
      ]);
      for (const nowMs of [0, 70_000, 140_000, 210_000]) await folders.look(nowMs);
    },
  };
}

/** Files below a folder that this process has open. */
function openBelow(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${fd}`);
      return file.startsWith(folder) ? [file] : [];
    } catch {
      return []; // closed since
    }
  });
}

const codes = async (set: Stage): Promise<string[]> => (await registered(set)).map(({ attendeeCode }) => attendeeCode);

describe.each(kinds)('a dropped file on %s', (kind) => {
  it('that kills or blocks its reader is set aside with the reason beside it, and the next files are imported', async () => {
    const set = await stages.open(kind);
    const { scene, names, read, start } = await dropping(set, 'hanging.csv', 'killing.json', 'people.csv');
    await start();
    expect(await codes(set)).toEqual(['people.csv']);
    expect(names().filter((name) => !/^\w+\.(?:csv|json)$/.test(name))).toEqual([
      'hanging.csv.error.txt',
      'killing.json.error.txt',
      'people.csv.report.csv',
    ]);
    expect(read('hanging.csv.error.txt')).toMatch(/^Reading the file takes longer than [^\n]+\n$/);
    expect(read('killing.json.error.txt')).toMatch(/^Reading the file needs more memory [^\n]+\n$/);
    expect(scene.logText()).not.toMatch(/Ada|\.(?:csv|json)/);

    expect(openBelow(join(set.folder, 'in'))).toEqual([]);
    expect(opened.toSorted()).toEqual(['hanging.csv', 'killing.json', 'people.csv']);
    await start();
    expect(opened).toHaveLength(3); // set aside for the next start as well
  });

  it('is claimed before it is read, and no longer read after three processes died while reading it', async () => {
    const set = await stages.open(kind);
    const { names, read, start } = await dropping(set, 'deadly.csv', 'people.csv');
    for (let deaths = 1; deaths <= 3; deaths += 1) {
      let isDead = false;
      onOpened = (name) => (isDead ||= name === 'deadly.csv');
      await expect(start(mortalDatabase(set.db, () => isDead))).rejects.toThrow(ProcessDied);
      // What the dead process has committed is all that the next one knows.
      expect(await set.db.query('select state, claims from dropped_files')).toEqual([
        { state: 'claimed', claims: deaths },
      ]);
    }
    expect(opened).toEqual(['deadly.csv', 'deadly.csv', 'deadly.csv']);

    for (let starts = 0; starts < 2; starts += 1) {
      await start();
      expect(opened.filter((name) => name === 'deadly.csv')).toHaveLength(3);
      expect(await codes(set)).toEqual(['people.csv']);
    }
    expect(names()).toEqual(['deadly.csv', 'deadly.csv.error.txt', 'people.csv', 'people.csv.report.csv']);
    expect(read('deadly.csv.error.txt')).toMatch(/^pigeonpost crashed 3 times while it was reading this file[^\n]+\n$/);
  });
});
