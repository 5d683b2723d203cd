import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Change } from '../change.js';
import { operationsFor } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import { environmentOf, laneOf } from '../sink-environment.test-kit.js';
import type { HeldResult, ReadBack, Sink } from '../sink.js';
import type { FileOperation } from './day-file.js';
import { createFileSink } from './file.js';
import { type FileAccess, nodeFileAccess } from './file-access.js';

const PATH = 'acme/101/questions/2026-11-21.ndjson';
const live = new AbortController().signal;

let base: string;
let memory: Record<string, unknown>;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'file-read-back-'));
  memory = {};
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const file = (): string => join(base, 'archive', PATH);

/** Returns a sink, and the number of bytes that it has read from files. */
function countingSink(today = '2026-11-21'): { sink: Sink<FileOperation>; bytesRead: () => number } {
  let bytesRead = 0;
  const open = async (path: string, ...rest: [flags?: number, mode?: number]) => {
    const handle = await nodeFileAccess.open(path, ...rest);
    const read = handle.read.bind(handle) as (...args: unknown[]) => Promise<{ bytesRead: number }>;
    handle.read = (async (...args: unknown[]) => {
      const result = await read(...args);
      bytesRead += result.bytesRead;
      return result;
    }) as typeof handle.read;
    return handle;
  };
  const access = { ...nodeFileAccess, open } as FileAccess;
  const now = (): number => Date.parse(`${today}T12:00:00Z`);
  return {
    sink: createFileSink({ folder: 'archive' }, environmentOf('archive', { baseFolder: base, now }), access),
    bytesRead: () => bytesRead,
  };
}

const changesFrom = (first: number, count: number, text = 'short'): Change[] =>
  Array.from({ length: count }, (_, index) => {
    const sequence = first + index;
    return sampleChange({ id: `id-${sequence}`, key: `k${sequence}`, sequence, data: { text } });
  });

async function send(sink: Sink<FileOperation>, changes: readonly Change[]): Promise<void> {
  const result = await sink.send(await operationsFor(sink, changes), laneOf(memory), live);
  expect(result.outcomes.every(({ kind }) => kind === 'delivered')).toBe(true);
  Object.assign(memory, result.memory);
}

async function readBack(sink: Sink<FileOperation>, changes: readonly Change[]): Promise<readonly HeldResult[]> {
  const operations = await operationsFor(sink, changes);
  const wanted = changes.map((change, at): ReadBack<FileOperation> => ({
    change,
    expected: 'content',
    operation: operations[at]!,
    object: null,
    removal: null,
  }));
  return await sink.readBack!(wanted, laneOf(memory), live);
}

const kinds = (results: readonly HeldResult[]): string[] => [...new Set(results.map(({ kind }) => kind))];

describe('lines that are read back', () => {
  it('are read from a large file in slices, each of which reads only its part of the file', async () => {
    const { sink, bytesRead } = countingSink();
    const changes = changesFrom(1, 4000, 'x'.repeat(5000));
    for (let at = 0; at < changes.length; at += 1000) await send(sink, changes.slice(at, at + 1000));
    const { size } = statSync(file());
    expect(size).toBeGreaterThan(20_000_000);
    expect(kinds(await readBack(sink, changes.slice(0, 100)))).toEqual(['held']);
    const afterFirst = bytesRead();
    for (let at = 0; at < changes.length; at += 200) {
      expect(kinds(await readBack(sink, changes.slice(at, at + 200)))).toEqual(['held']);
    }
    expect(bytesRead() - afterFirst).toBeLessThan(4 * size); // once would be 20 times as much if each slice read the file
    // The file grows between two slices: only its end is indexed again.
    const before = bytesRead();
    await send(sink, changesFrom(5001, 10));
    expect(kinds(await readBack(sink, changes.slice(0, 100)))).toEqual(['held']);
    expect(bytesRead() - before).toBeLessThan(5_000_000);
  });

  it('are found wherever they are, even after the file was edited between two slices', async () => {
    const { sink } = countingSink();
    const changes = changesFrom(1, 3000, 'x'.repeat(1000));
    for (let at = 0; at < changes.length; at += 1000) await send(sink, changes.slice(at, at + 1000));
    expect(kinds(await readBack(sink, changes.slice(0, 10)))).toEqual(['held']);
    const lines = readFileSync(file(), 'utf8').split('\n').slice(0, -1);
    writeFileSync(file(), `${lines.toReversed().join('\n')}\n${'y'.repeat(2_000_000)}\n`);
    expect(kinds(await readBack(sink, changes))).toEqual(['held']);
  });

  it('are not missing while the folder is not the one to which the sink has written', async () => {
    const { sink } = countingSink();
    const changes = changesFrom(1, 2);
    await send(sink, changes);
    renameSync(join(base, 'archive'), join(base, 'unmounted'));
    expect(await readBack(sink, changes)).toMatchObject([{ kind: 'pause' }, { kind: 'pause' }]);
  });

  it('are missing with the file of today, and unreadable with a file that was moved after its day', async () => {
    const changes = changesFrom(1, 1);
    await send(countingSink().sink, changes);
    renameSync(file(), join(base, 'moved.ndjson'));
    expect(await readBack(countingSink().sink, changes)).toEqual([{ kind: 'missing' }]);
    expect(await readBack(countingSink('2026-11-22').sink, changes)).toMatchObject([
      { kind: 'unreadable', cause: 'file-moved' },
    ]);
  });
});

describe('a file that was cut', () => {
  it('receives its missing lines and later ones again once a repair has accepted it', async () => {
    const { sink } = countingSink();
    const changes = changesFrom(1, 5);
    await send(sink, changes);
    const whole = readFileSync(file());
    writeFileSync(file(), whole.subarray(0, whole.length - 30)); // in the middle of the last line
    expect((await readBack(sink, changes)).map(({ kind }) => kind)).toEqual([
      'held',
      'held',
      'held',
      'held',
      'missing',
    ]);
    const stopped = await sink.send(await operationsFor(sink, changesFrom(6, 1)), laneOf(memory), live);
    expect(stopped.outcomes[0]).toMatchObject({ kind: 'pause' });

    expect(await sink.acceptHeld!(laneOf(memory), live)).toEqual({ kind: 'delivered' });
    await send(sink, [{ ...changes[4]!, id: 'id-of-a-replay', replay: 'r' }, ...changesFrom(6, 1)]);
    expect(kinds(await readBack(sink, [...changes, ...changesFrom(6, 1)]))).toEqual(['held']);
  });

  it('keeps no line that was appended by another program', async () => {
    const { sink } = countingSink();
    const changes = changesFrom(1, 2);
    await send(sink, changes);
    const [first] = readFileSync(file(), 'utf8').split('\n');
    appendFileSync(file(), `${first}\n`);
    const [copied] = await readBack(sink, changes);
    expect(copied).toMatchObject({ kind: 'held', copies: [`${PATH} byte 0`] });
    const extra = { change: changes[0]!, expected: 'content', operation: null, object: null, removal: null } as const;
    const outcomes = await sink.removeHeld!([{ ...extra, copies: ['a copy'] }], laneOf(memory), live);
    expect(outcomes).toEqual([{ kind: 'delivered' }]);
    expect(readFileSync(file(), 'utf8').split('\n').slice(0, -1)).toHaveLength(2);
    expect((await readBack(sink, changes)).every((result) => !('copies' in result))).toBe(true);
  });
});
