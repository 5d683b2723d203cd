import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Change } from '../change.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Lane, Outcome, SendResult, Sink } from '../sink.js';
import { operationsFor } from '../plan-of.test-kit.js';
import { failingAccess } from './failing-access.test-kit.js';
import { type FileAccess, nodeFileAccess } from './file-access.js';
import { createFileSink } from './file.js';
import type { FileOperation } from './day-file.js';
import { MARKER_FILE } from './marker.js';
import { environmentOf } from '../sink-environment.test-kit.js';

const QUESTIONS = 'acme/101/questions/2026-11-21.ndjson';
const VOTES = 'acme/101/votes/2026-11-21.ndjson';
const live = new AbortController().signal;

let base: string;
let folder: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'file-sink-'));
  folder = join(base, 'archive');
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

function sinkNamed(name: string, access?: FileAccess): Sink<FileOperation> {
  return createFileSink({ folder: 'archive' }, environmentOf(name, { baseFolder: base }), access);
}

const laneWith = (memory: Lane['memory'] = {}, ledgerId = 'ledger-1'): Lane => ({
  workspace: 'acme',
  pigeonholeId: 101,
  ledgerId,
  memory,
  remember: () => Promise.resolve(),
});

/** Returns a change of a list, with an id and a key that contain the sequence. */
const changeOf = (list: string, sequence: number, fields: Partial<Change> = {}): Change =>
  sampleChange({ id: `id-${sequence}`, list, type: `${list}.created`, key: `k${sequence}`, sequence, ...fields });

const idsIn = (path: string): string[] =>
  readFileSync(join(folder, path), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as Change).id);

const kinds = ({ outcomes }: SendResult): Outcome['kind'][] => outcomes.map(({ kind }) => kind);

async function sendAll(sink: Sink<FileOperation>, changes: readonly Change[], lane = laneWith()): Promise<SendResult> {
  return sink.send(await operationsFor(sink, changes), lane, live);
}

describe('a file sink', () => {
  it('writes one file per list and UTC day, and remembers the length of each file', async () => {
    const changes = [
      changeOf('questions', 1),
      changeOf('votes', 2),
      changeOf('questions', 3),
      changeOf('questions', 4, { timestamp: '2026-11-22T00:00:00.000Z' }),
    ];
    const result = await sendAll(sinkNamed('archive'), changes);

    expect(kinds(result)).toEqual(['delivered', 'delivered', 'delivered', 'delivered']);
    expect(idsIn(QUESTIONS)).toEqual(['id-1', 'id-3']);
    expect(idsIn(VOTES)).toEqual(['id-2']);
    expect(idsIn('acme/101/questions/2026-11-22.ndjson')).toEqual(['id-4']);
    expect(result.memory).toEqual({
      [QUESTIONS]: statSync(join(folder, QUESTIONS)).size,
      [VOTES]: statSync(join(folder, VOTES)).size,
      'acme/101/questions/2026-11-22.ndjson': statSync(join(folder, 'acme/101/questions/2026-11-22.ndjson')).size,
    });
  });

  it('keeps its files private from other users', async () => {
    await sendAll(sinkNamed('archive'), [changeOf('questions', 1)]);
    for (const path of ['', 'acme', 'acme/101', 'acme/101/questions', QUESTIONS, MARKER_FILE]) {
      expect(statSync(join(folder, path)).mode & 0o027).toBe(0);
    }
  });

  it('reports only changed lengths', async () => {
    const sink = sinkNamed('archive');
    const { memory } = await sendAll(sink, [changeOf('questions', 1), changeOf('votes', 2)]);
    const later = await sendAll(sink, [changeOf('votes', 3)], laneWith(memory));
    expect(Object.keys(later.memory ?? {})).toEqual([VOTES]);
    expect(idsIn(VOTES)).toEqual(['id-2', 'id-3']);
  });

  it('writes nothing if it is stopped before', async () => {
    const sink = sinkNamed('archive');
    const result = await sink.send(
      await operationsFor(sink, [changeOf('questions', 1)]),
      laneWith(),
      AbortSignal.abort(),
    );
    expect(result).toEqual({ outcomes: [{ kind: 'unsent' }], memory: {} });
    expect(() => statSync(folder)).toThrow('ENOENT');
  });

  it.each(['../../etc', 'a/b', '', '.hidden', 'con\0'])(
    'rejects a change of the list %j, and delivers the others',
    async (list) => {
      const changes = [changeOf('questions', 1), changeOf(list, 2), changeOf('questions', 3)];
      const result = await sendAll(sinkNamed('archive'), changes);
      expect(kinds(result)).toEqual(['delivered', 'rejected', 'delivered']);
      expect(readdirSync(base)).toEqual(['archive']);
      expect(readdirSync(join(folder, 'acme/101'))).toEqual(['questions']);
    },
  );
});

describe('a failed write', () => {
  it.each([
    ['ENOSPC', 'the disk is full'],
    ['EDQUOT', 'the disk quota'],
    ['EROFS', 'the file system is read-only'],
    ['EIO', 'the disk reports an error'],
  ])('with %s keeps earlier lines, and the retry leaves no trace of the failure', async (code, sentence) => {
    const { access, faults } = failingAccess();
    const sink = sinkNamed('archive', access);
    const first = await sendAll(sink, [changeOf('questions', 1)]);
    faults.push({ call: 'write', code, partialBytes: 10, path: 'votes' });
    const changes = [changeOf('questions', 2), changeOf('votes', 3), changeOf('questions', 4)];
    const failed = await sendAll(sink, changes, laneWith(first.memory));

    expect(kinds(failed)).toEqual(['delivered', 'retry', 'unsent']);
    const detail = expect.stringContaining(`${folder} could not be written: ${sentence}`) as string;
    expect(failed.outcomes[1]).toHaveProperty('detail', detail);
    expect(statSync(join(folder, VOTES)).size).toBe(0);

    faults.length = 0;
    const memory = { ...first.memory, ...failed.memory };
    expect(kinds(await sendAll(sink, changes.slice(1), laneWith(memory)))).toEqual(['delivered', 'delivered']);
    expect(idsIn(QUESTIONS)).toEqual(['id-1', 'id-2', 'id-4']);
    expect(idsIn(VOTES)).toEqual(['id-3']);
  });

  it('that cannot be truncated leaves no bytes after the next, shorter write', async () => {
    const { access, faults } = failingAccess();
    const sink = sinkNamed('archive', access);
    const { memory } = await sendAll(sink, [changeOf('questions', 1)]);
    faults.push({ call: 'write', code: 'ENOSPC', partialBytes: 5_000 }, { call: 'truncate', code: 'EIO' });
    const long = changeOf('questions', 2, { data: { text: 'x'.repeat(9_000) } });
    expect(kinds(await sendAll(sink, [long], laneWith(memory)))).toEqual(['retry']);
    faults.length = 0;
    const next = await sendAll(sink, [changeOf('questions', 3)], laneWith(memory)); // the long change is withheld by now
    expect(idsIn(QUESTIONS)).toEqual(['id-1', 'id-3']);
    expect(statSync(join(folder, QUESTIONS)).size).toBe(next.memory?.[QUESTIONS]);
  });

  it('undoes the whole batch if syncing fails', async () => {
    const { access, faults } = failingAccess();
    const sink = sinkNamed('archive', access);
    const { memory = {} } = await sendAll(sink, [changeOf('questions', 1)]);
    faults.push({ call: 'sync', code: 'EIO', path: 'votes' });
    const failed = await sendAll(sink, [changeOf('questions', 2), changeOf('votes', 3)], laneWith(memory));
    expect(kinds(failed)).toEqual(['retry', 'unsent']);
    expect(failed.memory).toEqual({});
    expect(statSync(join(folder, QUESTIONS)).size).toBe(memory[QUESTIONS]);
  });
});

describe('a failed read', () => {
  const failingWith = (call: 'readdir' | 'open', code: string): FileAccess => {
    const syscall = { readdir: 'scandir', open: 'open' }[call];
    const fail = () => Promise.reject(Object.assign(new Error(code), { code, syscall }));
    return { ...nodeFileAccess, [call]: fail };
  };
  const notPermitted = 'the file system does not permit it: give this user the right to read and write there';

  it.each([
    ['readdir', 'EIO', 'could not be read: the disk reports an error: check the system log'],
    ['readdir', 'EACCES', `could not be read: ${notPermitted}`],
    ['open', 'EACCES', `could not be opened: ${notPermitted}`],
  ] as const)('(%s, %s) is not reported as a failed write', async (call, code, sentence) => {
    const { memory } = await sendAll(sinkNamed('archive'), [changeOf('questions', 1)]);
    const sink = sinkNamed('archive', failingWith(call, code));
    const operations = await operationsFor(sink, [changeOf('questions', 2)]);
    const detail = `${folder} ${sentence}`;
    const recovered = await sink.recover!(operations, laneWith(memory), live);
    expect(recovered.outcomes).toEqual([{ kind: 'unknown', detail }]);
    expect(await sink.check(live)).toEqual([{ ok: false, text: detail }]);
    const erased = { keys: new Map([['questions', new Set(['k1'])]]), questions: new Set<number>() };
    expect(await sink.erase!(erased, laneWith(memory), live)).toEqual({ kind: 'retry', detail });
  });
});

describe('a folder that was replaced', () => {
  const pausedBy = (sentence: string) => ({
    kind: 'pause',
    cause: 'destination',
    detail: expect.stringContaining(sentence) as string,
  });

  it('pauses the sink if the disk is not mounted', async () => {
    const { memory } = await sendAll(sinkNamed('archive'), [changeOf('questions', 1)]);
    rmSync(folder, { recursive: true });
    const changes = [changeOf('questions', 2), changeOf('questions', 3)];
    const gone = await sendAll(sinkNamed('archive'), changes, laneWith(memory));
    expect(gone.outcomes).toEqual([pausedBy('has lost its marker'), { kind: 'unsent' }]);

    mkdirSync(folder); // the mount point exists, but the disk is not mounted
    const empty = await sendAll(sinkNamed('archive'), changes, laneWith(memory));
    expect(empty.outcomes[0]).toEqual(pausedBy('has lost its marker'));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('also pauses a lane without memory if this process has already seen the marker', async () => {
    const sink = sinkNamed('archive');
    await sendAll(sink, [changeOf('questions', 1)]);
    rmSync(folder, { recursive: true });
    const otherLane = { ...laneWith(), pigeonholeId: 102 };
    expect((await sendAll(sink, [changeOf('questions', 2)], otherLane)).outcomes[0]).toEqual(
      pausedBy('lost its marker'),
    );
  });

  it('pauses the sink if it has the marker of another ledger or another sink', async () => {
    await sendAll(sinkNamed('archive'), [changeOf('questions', 1)]);
    const foreign = await sendAll(sinkNamed('archive'), [changeOf('questions', 2)], laneWith({}, 'ledger-2'));
    expect(foreign.outcomes[0]).toEqual(pausedBy('another ledger'));
    const shared = await sendAll(sinkNamed('copy'), [changeOf('questions', 2)]);
    expect(shared.outcomes[0]).toEqual(pausedBy('belongs to the sink "archive"'));
    expect(idsIn(QUESTIONS)).toEqual(['id-1']);
  });

  it('pauses the sink if it contains other files, but a new file system is accepted', async () => {
    mkdirSync(folder);
    mkdirSync(join(folder, 'lost+found'));
    expect(kinds(await sendAll(sinkNamed('archive'), [changeOf('questions', 1)]))).toEqual(['delivered']);
    rmSync(join(folder, MARKER_FILE));
    const result = await sendAll(sinkNamed('archive'), [changeOf('questions', 2)]);
    expect(result.outcomes[0]).toEqual(pausedBy('contains other files but no marker'));
  });

  it('is claimed again if its marker was written only partly', async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, MARKER_FILE), '{"ledgerId":"led');
    expect(kinds(await sendAll(sinkNamed('archive'), [changeOf('questions', 1)]))).toEqual(['delivered']);
    expect(kinds(await sendAll(sinkNamed('copy'), [changeOf('questions', 1)]))).toEqual(['pause']);
  });

  it('pauses the sink if a file is missing, shorter or changed', async () => {
    const { memory } = await sendAll(sinkNamed('archive'), [changeOf('questions', 1)]);
    const path = join(folder, QUESTIONS);
    const content = readFileSync(path);
    const outcome = async () =>
      (await sendAll(sinkNamed('archive'), [changeOf('questions', 2)], laneWith(memory))).outcomes[0];

    rmSync(path);
    expect(await outcome()).toEqual(pausedBy('is missing'));
    writeFileSync(path, content.subarray(1));
    expect(await outcome()).toEqual(
      pausedBy(`has ${content.length - 1} bytes, although ${content.length} were written`),
    );
    writeFileSync(path, Buffer.concat([content.subarray(0, -1), Buffer.from('x\n')]));
    expect(await outcome()).toEqual(pausedBy('was changed after it was written'));
    writeFileSync(path, content);
    expect(await outcome()).toEqual({ kind: 'delivered' });
  });

  it.each(['acme', 'acme/101', 'acme/101/questions', QUESTIONS])('pauses the sink if %s is a link', async (path) => {
    await sendAll(sinkNamed('archive'), []);
    const elsewhere = join(base, 'elsewhere');
    mkdirSync(elsewhere);
    mkdirSync(join(folder, path, '..'), { recursive: true });
    symlinkSync(path === QUESTIONS ? join(elsewhere, 'file') : elsewhere, join(folder, path));
    const result = await sendAll(sinkNamed('archive'), [changeOf('questions', 1)]);
    expect(result.outcomes[0]).toMatchObject({ kind: 'pause', cause: 'destination' });
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});

describe('recovery after an attempt whose process died', () => {
  it('counts complete lines, truncates an incomplete one, and has the same result when repeated', async () => {
    const sink = sinkNamed('archive');
    const before = await sendAll(sink, [changeOf('questions', 1)]);
    const operations = await operationsFor(sink, [
      changeOf('questions', 2),
      changeOf('questions', 3),
      changeOf('questions', 4),
    ]);
    await sink.send(operations, laneWith(before.memory), live);
    truncateSync(join(folder, QUESTIONS), statSync(join(folder, QUESTIONS)).size - 5);

    for (const _ of ['first', 'again']) {
      const recovered = await sink.recover!(operations, laneWith(before.memory), live);
      expect(kinds(recovered)).toEqual(['delivered', 'delivered', 'unsent']);
      expect(recovered.memory).toEqual({ [QUESTIONS]: statSync(join(folder, QUESTIONS)).size });
      expect(idsIn(QUESTIONS)).toEqual(['id-1', 'id-2', 'id-3']);
    }
  });

  it('counts nothing after the first missing change, so that the order across files is kept', async () => {
    const sink = sinkNamed('archive');
    const operations = await operationsFor(sink, [
      changeOf('questions', 1),
      changeOf('votes', 2),
      changeOf('questions', 3),
    ]);
    await sink.send(operations, laneWith(), live);
    rmSync(join(folder, VOTES)); // as after a power loss
    const recovered = await sink.recover!(operations, laneWith(), live);
    expect(kinds(recovered)).toEqual(['delivered', 'unsent', 'unsent']);
    expect(idsIn(QUESTIONS)).toEqual(['id-1']);
  });

  it('removes lines of operations that are no longer planned, even in files of no current operation', async () => {
    const sink = sinkNamed('archive');
    const before = await sendAll(sink, [changeOf('questions', 1)]);
    await sendAll(sink, [changeOf('questions', 2), changeOf('votes', 3)], laneWith(before.memory));
    const recovered = await sink.recover!([], laneWith(before.memory), live);
    expect(recovered.outcomes).toEqual([]);
    expect(idsIn(QUESTIONS)).toEqual(['id-1']);
    expect(idsIn(VOTES)).toEqual([]);
  });

  it('removes a line whose author has become anonymous, so that the current change is written', async () => {
    const sink = sinkNamed('archive');
    await sendAll(sink, [changeOf('questions', 1, { data: { attendeeId: 7 } })]);
    const operations = await operationsFor(sink, [changeOf('questions', 1, { data: {} })]);
    const recovered = await sink.recover!(operations, laneWith(), live);
    expect(kinds(recovered)).toEqual(['unsent']);
    await sink.send(operations, laneWith(recovered.memory), live);
    expect(readFileSync(join(folder, QUESTIONS), 'utf8')).not.toContain('attendeeId');
  });

  it('does not change the lines of another lane', async () => {
    const sink = sinkNamed('archive');
    const other = { ...laneWith(), pigeonholeId: 102 };
    await sendAll(sink, [changeOf('questions', 1, { pigeonholeId: 102 })], other);
    await sink.recover!([], laneWith(), live);
    expect(idsIn('acme/102/questions/2026-11-21.ndjson')).toEqual(['id-1']);
  });

  it('ignores files of earlier days that people have moved away', async () => {
    const sink = sinkNamed('archive');
    const before = await sendAll(sink, [changeOf('questions', 1), changeOf('votes', 2)]);
    rmSync(join(folder, QUESTIONS));
    truncateSync(join(folder, VOTES), 0);
    const next = await operationsFor(sink, [changeOf('questions', 3, { timestamp: '2026-11-22T00:00:00.000Z' })]);
    expect(await sink.recover!(next, laneWith(before.memory), live)).toEqual({
      outcomes: [{ kind: 'unsent' }],
      memory: {},
    });
  });

  it('creates nothing in a folder that is not claimed yet', async () => {
    const sink = sinkNamed('archive');
    const operations = await operationsFor(sink, [changeOf('questions', 1)]);
    expect(kinds(await sink.recover!(operations, laneWith(), live))).toEqual(['unsent']);
    expect(readdirSync(base)).toEqual([]);
  });

  it('stays unknown while the folder cannot be read, and pauses if it is a different folder', async () => {
    const { access, faults } = failingAccess();
    const sink = sinkNamed('archive', access);
    const operations = await operationsFor(sink, [changeOf('questions', 1), changeOf('questions', 2)]);
    const { memory } = await sink.send(operations, laneWith(), live);
    faults.push({ call: 'sync', code: 'EIO' });
    expect(kinds(await sink.recover!(operations, laneWith(), live))).toEqual(['unknown', 'unknown']);
    rmSync(folder, { recursive: true });
    expect(kinds(await sink.recover!(operations, laneWith(memory), live))).toEqual(['pause', 'pause']);
  });
});

describe('the check of a file sink', () => {
  it('creates nothing, whether the folder exists or not', async () => {
    const sink = sinkNamed('archive');
    expect((await sink.check(live)).map(({ ok }) => ok)).toEqual([true, true]);
    expect(readdirSync(base)).toEqual([]);
    mkdirSync(folder);
    expect((await sink.check(live)).map(({ ok }) => ok)).toEqual([true, true]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('refuses a file in place of the folder, and a folder of another sink', async () => {
    await sendAll(sinkNamed('archive'), [changeOf('questions', 1)]);
    expect(await sinkNamed('copy').check(live)).toEqual([
      { ok: false, text: expect.stringContaining('belongs to the sink "archive"') },
    ]);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    expect(await sinkNamed('archive').check(live)).toEqual([
      { ok: false, text: expect.stringContaining('is not a folder') },
    ]);
  });

  it('reports a disk that is nearly full', async () => {
    const { access } = failingAccess();
    const statfs = (() => Promise.resolve({ bavail: 10, bsize: 4096 })) as unknown as FileAccess['statfs'];
    const [, space] = await sinkNamed('archive', { ...access, statfs }).check(live);
    expect(space).toEqual({ ok: false, text: expect.stringContaining('only 0 MiB are free') });
  });
});
